// Writes the log: see TrainLog.h. In: the result of a step. Out: a line.
// Tests: test/e2e/cli/resume.test.
#include "tools/pipec/TrainLog.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

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

} // namespace

Status TrainLog::cutAt(int64_t first) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return {}; // not there yet
  uint64_t kept = 0;
  std::string line;
  while (std::getline(in, line)) {
    const bool isCut = in.eof(); // no line end: the run was killed
    const int64_t step = stepOf(line);
    if (step < 0 && !(isCut && line[0] == '{'))
      return invalidArgument("--log " + path +
                             " is no log of pipec train; name another file");
    cut |= isCut;
    if (isCut || step >= first)
      break;
    kept += line.size() + 1;
  }
  in.close();
  std::error_code error;
  fs::resize_file(path, kept, error);
  return error ? ioError("--log " + path + ": " + error.message()) : Status();
}

Status TrainLog::open(const std::string &name, bool append, int64_t first) {
  path = name;
  if (path.empty())
    return {};
  if (append)
    PIPEC_RETURN_IF_ERROR(cutAt(first));
  file.reset(std::fopen(path.c_str(), append ? "ae" : "we"));
  return file ? Status()
              : ioError("--log " + path + ": " + std::strerror(errno));
}

Status TrainLog::add(const StepResult &result, double seconds, int64_t tokens) {
  if (!file)
    return {};
  nlohmann::ordered_json line;
  line["step"] = result.step;
  line["loss"] = result.loss;
  line["grad_norm"] = result.gradientNorm;
  line["lr"] = result.learningRate;
  line["tokens_per_s"] = seconds > 0 ? double(tokens) / seconds : 0;
  line["seconds"] = seconds;
  const std::string text = line.dump() + "\n";
  if (std::fputs(text.c_str(), file.get()) < 0 || std::fflush(file.get()) != 0)
    return ioError("--log " + path + ": " + std::strerror(errno));
  return {};
}

} // namespace pipec::tool
