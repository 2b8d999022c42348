// The windows of convolutions and pooling as ONNX describes them.
//
// In: strides, dilations, pads and auto_pad of a node. Out: checked values in
// the form of the `pipe` ops. Tests: test/unit/frontends/ImportTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_OPS_WINDOWS_H
#define PIPEC_FRONTENDS_ONNX_OPS_WINDOWS_H

#include "frontends/onnx/ops/NodeContext.h"

namespace pipec::onnx {

/// One entry per spatial dimension; `padding` has all low ones, then all high
/// ones.
struct Window {
  Shape kernel, strides, dilations, padding;
  int64_t rank() const { return static_cast<int64_t>(kernel.size()); }
};

/// Reads a node's window for data N C spatial..; SAME pads follow from the
/// data's size. Nothing after an error.
std::optional<Window> readWindow(NodeContext &c, const Val &data,
                                 const Shape &kernel);

} // namespace pipec::onnx

#endif
