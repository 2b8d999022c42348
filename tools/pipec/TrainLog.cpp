// Writes the log: see TrainLog.h. In: the result of a step. Out: a line.
// Tests: test/e2e/cli/resume.test, log.test, two-runs.test.
#include "tools/pipec/TrainLog.h"

#include "runtime/base/write_target.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace pipec::tool {
namespace {

/// The step of a line; -1 where it is none of ours.
int64_t stepOf(const std::string &line) {
  const auto parsed = nlohmann::json::parse(line, nullptr, false);
  if (!parsed.is_object())
    return -1;
  const auto step = parsed.find("step");
  return step != parsed.end() && step->is_number_unsigned()
             ? step->get<int64_t>()
             : -1;
}

bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

} // namespace

Status TrainLog::failed(int error) const {
  return ioError("--log " + path + ": " + std::strerror(error));
}

Status TrainLog::check(const std::string &name, bool append, bool overwrite) {
  path = name;
  if (path.empty() || path == "-" || isStream(path))
    return {};
  PIPEC_RETURN_IF_ERROR(checkFileTarget(path).withPrefix("--log"));
  if (!exists(path))
    return {};
  if (!append && !overwrite)
    return invalidArgument("--log " + path +
                           " exists; pass --overwrite to replace it");
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return {}; // a link to what open() makes
  auto taken = FileLock::take(path);
  if (!taken.ok())
    return taken.status().withPrefix("--log");
  lock = std::move(*taken);
  return {};
}

/// Runs follow each other in a file where steps begin again; the last is the
/// one that goes on.
Status TrainLog::cutAt(int64_t done) {
  std::ifstream in(path, std::ios::binary);
  uint64_t at = 0, kept = 0;
  int64_t last = 0, begin = 0, lines = 0;
  bool isCut = false, isAgain = false;
  std::string line;
  while (in && std::getline(in, line)) {
    isCut = in.eof(); // no line end: the run was killed
    const int64_t step = stepOf(line);
    if (step < 0 && !(isCut && line[0] == '{'))
      return invalidArgument("--log " + path +
                             " is no log of pipec train; name another file");
    if (isCut)
      break;
    if (step <= last || lines == 0) { // a run begins
      isAgain = false;
      begin = step;
    }
    last = step;
    at += line.size() + 1;
    isAgain |= step > done && done > 0;
    if (!isAgain)
      kept = at;
    ++lines;
  }
  if (lines > 0 && begin == 0)
    return invalidArgument("--log " + path +
                           " counts its steps from 0, as "
                           "earlier versions did; name another file");
  in.close();
  std::error_code error;
  fs::resize_file(path, kept, error);
  if (error)
    return ioError("--log " + path + ": " + error.message());
  if (isCut && !isAgain)
    said = "its last line was incomplete, and is dropped";
  if (done == 0 && lines > 0)
    said += (said.empty() ? "" : "; ") +
            ("it holds " + std::to_string(lines) +
             " lines of an earlier run, and goes on behind them");
  return {};
}

Status TrainLog::openStream() {
  // A pipe without a reader would keep us waiting for one.
  const int fd = path == "-"
                     ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                     : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC |
                                                O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return errno == ENXIO ? ioError("--log " + path +
                                    ": nobody reads that pipe; start its "
                                    "reader first")
                          : failed(errno);
  if (path != "-")
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  file.reset(::fdopen(fd, "w"));
  return file ? Status() : failed(errno);
}

Status TrainLog::open(bool append, int64_t done) {
  if (path.empty())
    return {};
  if (path == "-" || isStream(path))
    return openStream();
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0)
    return failed(errno);
  file.reset(::fdopen(fd, "a"));
  if (!file)
    return failed(errno);
  if (!lock) {
    auto taken = FileLock::take(path);
    if (!taken.ok())
      return taken.status().withPrefix("--log");
    lock = std::move(*taken);
  }
  replaces = !append;
  return append ? cutAt(done) : Status();
}

Status TrainLog::add(const StepResult &result, double seconds,
                     const StepWork &work) {
  if (!file)
    return {};
  if (replaces && ::ftruncate(::fileno(file.get()), 0) != 0)
    return failed(errno);
  replaces = false;
  nlohmann::ordered_json line;
  line["step"] = result.step + 1; // as the progress line counts
  line["loss"] = result.loss;
  line["grad_norm"] = result.gradientNorm;
  line["lr"] = result.learningRate;
  line[work.isTokens ? "tokens_per_s" : "samples_per_s"] =
      seconds > 0 ? double(work.count) / seconds : 0;
  line["seconds"] = seconds;
  const std::string text = line.dump() + "\n";
  if (std::fputs(text.c_str(), file.get()) < 0 || std::fflush(file.get()) != 0)
    return failed(errno);
  return {};
}

} // namespace pipec::tool
