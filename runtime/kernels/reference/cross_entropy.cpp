// cross_entropy and cross_entropy_grad, as ATen's cross_entropy_loss with
// reduction sum; classes are the last dimension. In: logits [.., C], labels
// [..]. Out: a scalar, or the logits' shape. Rows are computed by softmax_row.h
// and added in f64 in ascending order. Tests:
// test/unit/kernels/CrossEntropyTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/indexing.h"
#include "runtime/kernels/reference/softmax_row.h"
#include "runtime/kernels/reference/support.h"

namespace pipec::reference {
namespace {

struct Loss {
  int64_t rows = 0, classes = 0, ignoreIndex = 0;
  double smoothing = 0;
  std::string name;
};

StatusOr<Loss> readLoss(const OpDesc &op, size_t operands) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, operands));
  PIPEC_RETURN_IF_ERROR(checkIndexType(op, 1));
  const TensorType &logits = op.inputs[0];
  if (logits.rank() < 1)
    return invalidArgument("logits " + logits.str() + " have no classes");
  Shape rows(logits.shape.begin(), logits.shape.end() - 1);
  PIPEC_RETURN_IF_ERROR(checkShape(op, 1, rows));
  Loss loss;
  loss.rows = numElements(rows, 0, rows.size());
  loss.classes = logits.shape.back();
  PIPEC_ASSIGN_OR_RETURN(loss.ignoreIndex, op.get<int64_t>("ignore_index"));
  PIPEC_ASSIGN_OR_RETURN(loss.smoothing, op.get<double>("label_smoothing"));
  if (!(loss.smoothing >= 0 && loss.smoothing <= 1))
    return invalidArgument("label_smoothing must be from 0 to 1");
  loss.name = opText(op);
  return loss;
}

Status labelError(const Loss &loss, int64_t label, int64_t row) {
  return invalidArgument(
      loss.name + ": label " + std::to_string(label) + " of row " +
      std::to_string(row) + " is out of range: expected 0 to " +
      std::to_string(loss.classes - 1) + ", or " +
      std::to_string(loss.ignoreIndex) +
      " for a row to ignore; check --labels and --ignore-index");
}

// Calls visit(row, label) for each row that counts.
template <typename Visit>
Status forRows(const Loss &loss, const Indices &labels, Visit visit) {
  for (int64_t row = 0; row < loss.rows; ++row) {
    const int64_t label = labels[row];
    if (label == loss.ignoreIndex)
      continue;
    if (label < 0 || label >= loss.classes)
      return labelError(loss, label, row);
    visit(row, label);
  }
  return Status();
}

template <typename T> KernelOr makeForward(const Loss &loss) {
  using C = Compute<T>;
  ScratchPlan scratch;
  scratch.add<C>(loss.classes);
  return makeKernel(
      [=](const Run &run) {
        C *logs = run.scratch<C>(0);
        double sum = 0;
        Status status = forRows(
            loss, Indices(run.inputs[1]), [&](int64_t row, int64_t label) {
              const T *in = run.in<T>(0) + row * loss.classes;
              for (int64_t c = 0; c < loss.classes; ++c)
                logs[c] = load(in[c]);
              logSoftmaxRow(logs, loss.classes, maxOfRow(logs, loss.classes));
              double value = (1 - loss.smoothing) * -double(logs[label]);
              if (loss.smoothing > 0) {
                double all = 0;
                for (int64_t c = 0; c < loss.classes; ++c)
                  all -= double(logs[c]);
                value += loss.smoothing / double(loss.classes) * all;
              }
              sum += value;
            });
        *run.out<T>() = store<T>(static_cast<C>(sum));
        return status;
      },
      scratch);
}

template <typename T> KernelOr makeGrad(const Loss &loss) {
  using C = Compute<T>;
  ScratchPlan scratch;
  scratch.add<C>(loss.classes);
  return makeKernel(
      [=](const Run &run) {
        C *row = run.scratch<C>(0);
        T *out = run.out<T>();
        std::fill_n(out, loss.rows * loss.classes, store<T>(C(0)));
        const C grad = static_cast<C>(load(*run.in<T>(2)));
        const C each = static_cast<C>(loss.smoothing / double(loss.classes));
        const C hit = static_cast<C>(1 - loss.smoothing);
        return forRows(
            loss, Indices(run.inputs[1]), [&](int64_t r, int64_t label) {
              const T *in = run.in<T>(0) + r * loss.classes;
              for (int64_t c = 0; c < loss.classes; ++c)
                row[c] = load(in[c]);
              softmaxRow(row, loss.classes, maxOfRow(row, loss.classes));
              T *to = out + r * loss.classes;
              for (int64_t c = 0; c < loss.classes; ++c) {
                const C target = each + (c == label ? hit : C(0));
                to[c] = store<T>((row[c] - target) * grad);
              }
            });
      },
      scratch);
}

KernelOr makeCrossEntropy(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Loss loss, readLoss(op, 2));
  PIPEC_RETURN_IF_ERROR(checkResult(op, {op.inputs[0].dtype, {}}));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeForward<typename decltype(tag)::type>(loss);
  });
}

KernelOr makeCrossEntropyGrad(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Loss loss, readLoss(op, 3));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 2));
  PIPEC_RETURN_IF_ERROR(checkShape(op, 2, {}));
  PIPEC_RETURN_IF_ERROR(checkResult(op, op.inputs[0]));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeGrad<typename decltype(tag)::type>(loss);
  });
}

} // namespace

void registerCrossEntropy(KernelRegistry &registry) {
  registry.add("cross_entropy", KernelSet::Reference, makeCrossEntropy);
  registry.add("cross_entropy_grad", KernelSet::Reference,
               makeCrossEntropyGrad);
}

} // namespace pipec::reference
