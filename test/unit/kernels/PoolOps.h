// What the tests of the pools and of their gradients share.
#ifndef PIPEC_TEST_UNIT_KERNELS_POOLOPS_H
#define PIPEC_TEST_UNIT_KERNELS_POOLOPS_H

#include "test/unit/kernels/KernelTest.h"

#include <limits>

namespace pipec::test {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline Op pool(const char *name, Shape window, Shape strides, Shape padding,
               Shape dilations) {
  return Op(name)
      .attr("window", window)
      .attr("strides", strides)
      .attr("padding", padding)
      .attr("dilations", dilations);
}

} // namespace pipec::test

#endif
