// Counts memory, and says what is missing: see memory_need.h. In: bytes by
// kind. Out: ok, or an error that names who needs what. Tests:
// test/unit/runtime/MemoryTest.cpp.
#include "runtime/executor/memory_need.h"

namespace pipec {

const char *const kLessMemory =
    "use more and so smaller microbatches, a smaller batch or a higher limit";

std::string lessMemoryToTrain(bool canRecompute) {
  return std::string(canRecompute ? "recompute (--recompute full), " : "") +
         "use more and so smaller microbatches, a schedule that keeps fewer of "
         "them (1f1b keeps fewer than gpipe), a smaller batch or a higher "
         "limit";
}

uint64_t saturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

MemoryNeed &MemoryNeed::operator+=(const MemoryNeed &o) {
  arenas = saturatingAdd(arenas, o.arenas);
  weights = saturatingAdd(weights, o.weights);
  contexts = saturatingAdd(contexts, o.contexts);
  transfers = saturatingAdd(transfers, o.transfers);
  return *this;
}

uint64_t MemoryNeed::total() const {
  return saturatingAdd(saturatingAdd(arenas, contexts),
                       saturatingAdd(weights, transfers));
}

std::string MemoryNeed::str() const {
  const std::pair<const char *, uint64_t> parts[] = {
      {"values", arenas},
      {"kept for the backward", contexts},
      {"weights", weights},
      {"transfers", transfers}};
  std::string text;
  for (const auto &[name, bytes] : parts)
    if (bytes)
      text += (text.empty() ? " (" : ", ") + std::string(name) + " " +
              std::to_string(bytes);
  return std::to_string(total()) + " bytes" + text + (text.empty() ? "" : ")");
}

Status checkMemory(const std::vector<MemoryPart> &parts, uint64_t limit,
                   const std::string &advice) {
  MemoryNeed all;
  for (const MemoryPart &part : parts)
    all += part.need;
  if (limit == 0 || all.total() <= limit)
    return {};
  constexpr size_t kShown = 16;
  std::string text;
  for (size_t i = 0; i < parts.size() && i < kShown; ++i)
    text += (i ? ", " : "") + parts[i].who + " " + parts[i].need.str();
  if (parts.size() > kShown)
    text += ", and " + std::to_string(parts.size() - kShown) + " more";
  return resourceExhausted("needs " + std::to_string(all.total()) +
                           " bytes, the limit is " + std::to_string(limit) +
                           ": " + text + "; " + advice);
}

Status allocating(const Status &status, const std::string &what,
                  const std::string &advice) {
  if (status.getCode() != StatusCode::ResourceExhausted)
    return status.withPrefix(what);
  return resourceExhausted(what + ": " + status.message() + "; " + advice);
}

StatusOr<DeviceBuffer> allocateFor(Device &device, uint64_t bytes,
                                   const std::string &what,
                                   const std::string &advice) {
  auto buffer = DeviceBuffer::allocate(device, bytes);
  if (!buffer.ok())
    return allocating(buffer.status(), what, advice);
  return buffer;
}

} // namespace pipec
