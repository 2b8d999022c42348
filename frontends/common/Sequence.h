// Lists of tensors, which exist at import only: the IR has none.
//
// Tests: test/unit/frontends/SequenceTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_SEQUENCE_H
#define PIPEC_FRONTENDS_COMMON_SEQUENCE_H

#include "frontends/common/Emitter.h"

namespace pipec::frontend {

/// A list of tensors of one element type, known at import.
struct Sequence {
  DType dtype = DType::F32;
  std::vector<Val> parts;
};

} // namespace pipec::frontend

#endif
