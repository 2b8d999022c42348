// Resize of ONNX (opsets 13, 18 and 19).
//
// In: scales or sizes, with axes and aspect policies. Out: `pipe.resize` with
// static sizes. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>
#include <cmath>

namespace pipec::onnx {
namespace {

struct Target {
  Shape shape;
  std::vector<double> scales;
};

/// Sizes of all dimensions, from those of some axes.
std::optional<Target> readTarget(NodeContext &c, const Val &x) {
  auto axes = c.hasAttr("axes") ? c.intsAttr("axes") : iotaShape(x.rank());
  if (!c.sortedAxes(axes, x.rank()))
    return std::nullopt;
  Target target{x.shape(), std::vector<double>(x.rank(), 1.0)};
  bool bySizes = c.has(3) && c.in(3).numElements() > 0;
  auto given =
      bySizes ? c.constantNumbers(3, "sizes") : c.constantNumbers(2, "scales");
  if (!given ||
      !c.require(given->size() == axes.size(),
                 "scales or sizes have " + std::to_string(given->size()) +
                     " entries for " + std::to_string(axes.size()) + " axes"))
    return std::nullopt;
  std::string policy = c.stringAttr("keep_aspect_ratio_policy", "stretch");
  if (!c.require(policy == "stretch" || policy == "not_larger" ||
                     policy == "not_smaller",
                 "keep_aspect_ratio_policy '" + policy + "' is unknown"))
    return std::nullopt;
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t d = normalizedAxis(axes[i], x.rank());
    double number = (*given)[i];
    if (!c.require(number > 0 && number < 1e9 && x.dim(d) > 0,
                   "a scale or size is not positive"))
      return std::nullopt;
    target.scales[d] =
        bySizes ? number / static_cast<double>(x.dim(d)) : number;
    target.shape[d] =
        bySizes ? static_cast<int64_t>(number)
                // In f32, the scales' own type: 20 * 0.7 is 14.
                : static_cast<int64_t>(std::floor(static_cast<float>(x.dim(d)) *
                                                  static_cast<float>(number)));
    bool smaller = policy == "not_larger" ? target.scales[d] < common
                                          : target.scales[d] > common;
    common = i == 0 || smaller ? target.scales[d] : common;
  }
  if (bySizes && policy != "stretch")
    for (int64_t axis : axes) {
      int64_t d = normalizedAxis(axis, x.rank());
      target.scales[d] = common;
      target.shape[d] = static_cast<int64_t>(
          std::floor(common * static_cast<double>(x.dim(d)) + 0.5));
    }
  return target;
}

/// The filter is for what shrinks: an enlarged image has none (cubic has other
/// weights at the border).
bool checkAntialias(NodeContext &c, const Target &target,
                    pipe::ResizeMode mode) {
  if (!c.intAttr("antialias", 0) || mode == pipe::ResizeMode::nearest)
    return true;
  const bool shrinks = std::any_of(target.scales.begin(), target.scales.end(),
                                   [](double scale) { return scale < 1; });
  if (!shrinks && mode == pipe::ResizeMode::linear)
    return true;
  c.refuse("antialias is not supported: resize before the model, or export "
           "with antialias=False, which gives other numbers");
  return false;
}

void importResize(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto mode = pipe::symbolizeResizeMode(c.stringAttr("mode", "nearest"));
  std::string coordinates =
      c.stringAttr("coordinate_transformation_mode", "half_pixel");
  auto transform = pipe::symbolizeResizeCoordinates(coordinates);
  auto rounding = pipe::symbolizeResizeRounding(
      c.stringAttr("nearest_mode", "round_prefer_floor"));
  if (coordinates == "tf_crop_and_resize")
    return c.refuse("coordinate_transformation_mode 'tf_crop_and_resize' is "
                    "not supported: slice the region and resize that");
  if (!c.require(transform.has_value(), "coordinate_transformation_mode '" +
                                            coordinates + "' is unknown") ||
      !c.require(mode.has_value(),
                 "mode '" + c.stringAttr("mode", "") + "' is unknown") ||
      !c.require(rounding.has_value(), "nearest_mode '" +
                                           c.stringAttr("nearest_mode", "") +
                                           "' is unknown"))
    return;
  auto target = readTarget(c, x);
  if (!target || !checkAntialias(c, *target, *mode))
    return;
  auto *context = c.e.context();
  // Integers are exact in f64 up to 2^53; nearest only copies.
  DType wide = isFloat(x.dtype()) ? x.dtype() : DType::F64;
  Val resized = c.e.emit1(
      "resize", {c.e.convert(x, wide)},
      c.e.attrs()
          .set("mode", pipe::ResizeModeAttr::get(context, *mode))
          .ints("shape", target->shape)
          .doubles("scales", target->scales)
          .set("coordinates",
               pipe::ResizeCoordinatesAttr::get(context, *transform))
          .set("rounding", pipe::ResizeRoundingAttr::get(context, *rounding))
          .f64("cubic_coeff", c.floatAttr("cubic_coeff_a", -0.75))
          .boolean("exclude_outside", c.intAttr("exclude_outside", 0) != 0));
  c.out(0, c.e.convert(resized, x.dtype()));
}

constexpr OpEntry kTable[] = {{"Resize", 13, importResize}};

} // namespace

OpTable resizeOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
