// Imports a model as often as it takes to know which mean its loss is.
// Tests: test/e2e/cli/own-loss.test.
#include "compiler/OwnLoss.h"

#include "ir/OpDescs.h"
#include "passes/differentiate/Passes.h"
#include "passes/partition/Passes.h"

using namespace mlir;

namespace pipec {

OwnLoss::OwnLoss(const std::vector<VariantShapes> &variants, int64_t batchRows,
                 const std::string &name, const frontend::ModelInterface &model,
                 const CompileOptions &options, const Importer &import,
                 bool takesTotals)
    : takesTotals(takesTotals), output(name) {
  // One row leaves no trace of the batch's dimension.
  lookedRows = std::max<int64_t>(variants[0].rows, 2);
  auto imported = [&](int64_t rows) -> OwningOpRef<ModuleOp> {
    auto module = import(withRows(variants[0], rows, model, options));
    return module.ok() ? std::move(*module) : OwningOpRef<ModuleOp>();
  };
  looked = imported(lookedRows);
  auto at = looked ? pipe::lossOutput(pipe::findGraph(*looked), output)
                   : std::optional<unsigned>();
  if (!at) {
    looked = {};
    why = "the file allows microbatches of one row alone, which do not show "
          "which mean the loss is";
    return;
  }
  OwningOpRef<ModuleOp> whole =
      imported(batchRows > lookedRows ? batchRows : lookedRows + 1);
  loss = pipe::findBatchLoss(pipe::findGraph(*looked), *at,
                             whole ? pipe::findGraph(*whole) : pipe::GraphOp(),
                             takesTotals);
  if (!loss.isSeen()) {
    const std::string where =
        loss.lostAt ? pipe::originOf(loss.lostAt->getLoc()).str() : "";
    why = (where.empty() ? "the loss" : where) + " " + loss.lostBy;
    return;
  }
  for (const VariantShapes &variant : variants) {
    auto module = import(variant);
    if (!module.ok())
      continue; // who compiles it says what is wrong with it
    if (isSameIn(pipe::findGraph(**module), variant.rows, *at,
                 whole ? pipe::findGraph(*whole) : pipe::GraphOp()) &&
        apply(**module, variant.rows).ok())
      continue;
    loss.lostBy = "differs";
    why = "the loss of microbatches of " + std::to_string(variant.rows) +
          " rows is made of other operations than that of " +
          std::to_string(lookedRows);
  }
}

/// Whether the loss of microbatches of another size is seen to be the same.
bool OwnLoss::isSameIn(pipe::GraphOp graph, int64_t rows, unsigned at,
                       pipe::GraphOp whole) const {
  if (rows == lookedRows || rows < 2)
    return true;
  const pipe::BatchLoss other =
      pipe::findBatchLoss(graph, at, whole, takesTotals);
  return other.isSeen() && other.steps == loss.steps;
}

StatusOr<OwningOpRef<ModuleOp>> OwnLoss::apply(ModuleOp module,
                                               int64_t rows) const {
  std::optional<unsigned> at =
      pipe::lossOutput(pipe::findGraph(module), output);
  if (!at)
    return internalError("the loss is there at some sizes alone");
  auto totals = pipe::applyBatchLoss(module, loss, *at, rows,
                                     pipe::findGraph(looked.get()), lookedRows);
  if (failed(totals))
    return internalError("the loss has other operations at other sizes");
  return std::move(*totals);
}

} // namespace pipec
