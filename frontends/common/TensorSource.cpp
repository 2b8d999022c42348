// Reads a tensor of a model file: see TensorSource.h.
//
// In: the place of its elements. Out: a copy of them. Tests:
// test/unit/frontends/TensorSourceTest.cpp.
#include "frontends/common/TensorSource.h"

namespace pipec::frontend {

StatusOr<Tensor> TensorSource::load() const {
  if (!inFile())
    return inlined;
  PIPEC_ASSIGN_OR_RETURN(const uint8_t *bytes, file->range(offset, length));
  PIPEC_ASSIGN_OR_RETURN(Tensor copy, Tensor::copyOf(type, bytes));
  if (type.dtype == DType::Bool)
    for (size_t i = 0; i < type.byteSize(); ++i)
      copy.as<uint8_t>()[i] = copy.as<uint8_t>()[i] != 0;
  return copy;
}

} // namespace pipec::frontend
