// Where the batches of a training run come from: safetensors files, or a file
// of tokens.
#ifndef PIPEC_RUNTIME_DATA_BATCH_SOURCE_H
#define PIPEC_RUNTIME_DATA_BATCH_SOURCE_H

#include "pipec/tensor.h"

namespace pipec {

using TensorTypes = std::map<std::string, TensorType>;

/// Batches by the number of their step. There is no state that moves: a run's
/// position in its data is its step, and resuming is asking for the next one.
/// Thread rule: immutable, may be used by many threads.
class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// The tensors of step `step` (from 0). They may alias mapped files: read
  /// only. The tensors keep alive what they need, the source may go. Errors
  /// name the file, what was expected, what is there and what to do.
  virtual StatusOr<TensorMap> batch(int64_t step) const = 0;

  /// The types of batch(step), which repeat: types(k) equals
  /// types(k mod typePeriod()). Requires step >= 0.
  virtual TensorTypes types(int64_t step) const = 0;
  virtual int64_t typePeriod() const { return 1; }

  /// The file that batch(step) is read from.
  virtual std::string fileOf(int64_t step) const = 0;

  /// Steps until every row or window has come at least once.
  virtual int64_t stepsPerEpoch() const = 0;

  /// One line for people and for a checkpoint to compare on resuming: the files
  /// and all that decides which rows come at a step.
  virtual std::string describe() const = 0;

  /// A line on what was taken for granted about the files, for people to check;
  /// empty: nothing was.
  virtual std::string remark() const { return ""; }
};

/// --inputs FILE.safetensors, one or several.
struct InputOptions {
  std::vector<std::string> paths;
  /// 0: each file is one batch. Above 0: each is a data set, and a batch is
  /// this many of its rows.
  int64_t batch = 0;
  bool shuffle = false;
  uint64_t seed = 0;
  /// The tensors to read, inputs and labels; empty: all of the file's. Others
  /// are ignored, a missing one is an error before the first step.
  std::vector<std::string> wanted;
  /// With `batch`: tensors that every batch gets entire. Scalars, which have no
  /// rows, always come so.
  std::vector<std::string> whole;
};

/// Step k reads file k mod n of the n files: the whole file, or, with `batch`,
/// that file's batch number k div n. Batch b of a data set of R rows holds the
/// samples b * batch to (b + 1) * batch - 1 of SampleOrder(R): every row once
/// an epoch, none dropped, going on with the next epoch inside a batch where R
/// is no multiple. Rows are taken along the first dimension of every tensor.
///
/// Files are mapped, so that only the rows that are read cost memory. Errors:
/// InvalidArgument for options and for files that do not suit them, Io and
/// DataLoss from the files.
StatusOr<std::unique_ptr<BatchSource>> openInputs(const InputOptions &options);

enum class TokenWidth { Auto, U16, U32 };

/// --data tokens.bin.
struct TokenOptions {
  std::string path;
  /// Of a file with a header, only to compare with it. Auto: u32 where the
  /// vocabulary needs it, or where every second 16-bit word (of the first
  /// 65536) is zero and not all are, or, if the vocabulary is not known, where
  /// every second one is below 32 and not all are; otherwise u16. describe()
  /// says which.
  TokenWidth width = TokenWidth::Auto;
  int64_t batch = 1;    // windows a step
  int64_t sequence = 0; // tokens a window
  bool shuffle = false;
  uint64_t seed = 0;
  /// Tokens must be below it; 0: not checked. A token is checked when it is
  /// read.
  int64_t vocabulary = 0;
  std::string tokens;             // the input that gets the tokens
  DType tokensDType = DType::I64; // I32 or I64
  std::string labels = "labels";  // empty: no labels
  /// Labels are the tokens after each token. False: the tokens themselves, for
  /// losses that shift.
  bool nextTokens = true;
  /// Inputs filled with ones: attention masks.
  TensorTypes ones;
};

/// Window w of T = `sequence` tokens holds tokens w T to w T + T - 1, and its
/// labels are tokens w T + 1 to w T + T; there are (count - 1) / T windows, the
/// rest of the file is unused. Row r of step k is sample k * batch + r of
/// SampleOrder(windows). A batch: `tokens` [batch, T], `labels` i64 [batch, T],
/// and the ones.
///
/// The file is raw little-endian tokens, or has llm.c's header of 256 int32:
/// magic 20240520 with version 1 (u16) or 20240801 with version 7 (u32), then
/// the number of tokens. It is mapped. Errors as of openInputs.
StatusOr<std::unique_ptr<BatchSource>> openTokens(const TokenOptions &options);

} // namespace pipec

#endif
