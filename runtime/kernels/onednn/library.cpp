// The oneDNN engine, thread rule and primitive arguments. In: primitives. Out:
// their execution on one thread of the caller.
// Tests: test/unit/kernels/OneDnnTest.cpp.
#include "runtime/kernels/onednn/library.h"

#include <omp.h>
#include <string_view>

namespace pipec::onednn {

OneThread::OneThread() : before(omp_get_max_threads()) {
  if (before != 1)
    omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before != 1)
    omp_set_num_threads(before);
}

dnnl::engine &engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attributes;
}

void Step::argument(int index, const MemoryDesc &desc) {
  arguments[index] = dnnl::memory(desc, engine(), DNNL_MEMORY_NONE);
}

void Step::bind(int index, const void *data) {
  arguments.at(index).set_data_handle(const_cast<void *>(data));
}

bool isSlow(const char *implementation) {
  return std::string_view(implementation).find("ref") != std::string_view::npos;
}

} // namespace pipec::onednn
