// Compares two runs. In: what a checkpoint says, what the run that resumes
// would write. Out: remarks, or why it cannot go on.
// Tests: test/unit/checkpoint/CompareRunsTest.cpp.
#include "runtime/checkpoint/compare_runs.h"

namespace pipec {
namespace {

using Fields = std::map<std::string, std::string>;

constexpr const char *kStartAnew =
    "; or start a new run from its weights: pipec checkpoint export, then "
    "pipec train --weights";

std::string fieldOf(const Fields &fields, const std::string &key) {
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second;
}

/// "'a/b/c.bin', 4 rows" to "'c.bin', 4 rows".
std::string withoutFolders(const std::string &text) {
  std::string result;
  bool quoted = false;
  size_t name = 0; // where the quoted name begins in `result`
  for (const char c : text) {
    if (c == '\'') {
      quoted = !quoted;
      name = result.size() + 1;
    } else if (c == '/' && quoted) {
      result.resize(name);
      continue;
    }
    result += c;
  }
  return result;
}

Status compareOptimizers(const Fields &then, const Fields &now) {
  const std::string was = fieldOf(then, "kind"), is = fieldOf(now, "kind");
  if (was != is)
    return invalidArgument("its optimizer is " + was + ", that of this run " +
                           is + ", whose state is another: pass --optimizer " +
                           was + kStartAnew);
  // Without momentum there is no buffer to go on with; the reverse drops one.
  if (fieldOf(then, "momentum") == "0" && fieldOf(now, "momentum") != "0")
    return invalidArgument("it was trained without momentum, so that it lacks "
                           "what --momentum " +
                           fieldOf(now, "momentum") +
                           " goes on with: leave out --momentum" + kStartAnew);
  return Status();
}

Status compareData(const std::string &was, const std::string &is) {
  if (was.empty() || is.empty() || withoutFolders(was) == withoutFolders(is))
    return Status();
  return invalidArgument(
      "it was trained with other data; give the same, with the same --batch, "
      "--shuffle and --seed" +
      std::string(kStartAnew) + "\n  then: " + was + "\n  now:  " + is);
}

bool isDataFile(const std::string &key) {
  return key.rfind(kDataFileNote, 0) == 0;
}

/// Checkpoints of earlier versions do not note them.
Status compareDataFiles(const Fields &then, const Fields &now) {
  std::string differing;
  for (const auto &[key, is] : now) {
    const std::string was = fieldOf(then, key);
    if (isDataFile(key) && !was.empty() &&
        withoutFolders(was) != withoutFolders(is))
      differing += "\n  then: " + was + "\n  now:  " + is;
  }
  return differing.empty()
             ? Status()
             : invalidArgument("it was trained with data files of other "
                               "content; give those of that run" +
                               std::string(kStartAnew) + differing);
}

std::string differenceOf(const std::string &what, const std::string &is,
                         const std::string &was) {
  std::string text = what;
  for (const std::string &part :
       {std::string(" is "), is, std::string(", until this checkpoint it was "),
        was})
    text += part;
  return text;
}

void addDifferences(const Fields &then, const Fields &now,
                    std::vector<std::string> &remarks) {
  for (const auto &[key, is] : now) {
    const auto was = then.find(key);
    const bool compared = key != kDataNote && key != "kind" && !isDataFile(key);
    // --accumulate multiplies what --microbatches says.
    const std::string name =
        key == "microbatches" ? "microbatches x accumulate" : key;
    if (compared && was != then.end() && was->second != is)
      remarks.push_back(differenceOf(name, is, was->second));
  }
}

} // namespace

StatusOr<std::vector<std::string>> compareRuns(const CheckpointInfo &then,
                                               const CheckpointInfo &now,
                                               bool isRandom) {
  PIPEC_RETURN_IF_ERROR(compareOptimizers(then.optimizer, now.optimizer));
  PIPEC_RETURN_IF_ERROR(compareData(fieldOf(then.notes, kDataNote),
                                    fieldOf(now.notes, kDataNote)));
  PIPEC_RETURN_IF_ERROR(compareDataFiles(then.notes, now.notes));
  std::vector<std::string> remarks;
  if (then.seed != now.seed) {
    const std::string was = std::to_string(then.seed);
    if (isRandom)
      return invalidArgument("its seed is " + was + ", that of this run " +
                             std::to_string(now.seed) +
                             ", and the model has dropout: pass --seed " + was +
                             kStartAnew);
    remarks.push_back(differenceOf("seed", std::to_string(now.seed), was) +
                      "; nothing random depends on it");
  }
  addDifferences(then.optimizer, now.optimizer, remarks);
  addDifferences(then.notes, now.notes, remarks);
  return remarks;
}

} // namespace pipec
