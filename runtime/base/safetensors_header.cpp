// Parses and checks the header of a safetensors file, whose content is hostile
// until proved otherwise. In: JSON text. Out: tensors with types and ranges.
//
// The JSON is read event by event: nothing is kept but the fields that the
// format knows, duplicates show, and depth is bounded by refusing what nests.
// Tests: test/unit/base/SafetensorsTest.cpp.
#include "runtime/base/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace pipec::safetensors {
namespace {

constexpr const char *kMetadata = "__metadata__";

class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  Status error;

  bool null() override { return fail("a null"); }
  bool boolean(bool) override { return fail("a boolean"); }
  bool number_float(double, const std::string &) override {
    return fail("a fraction");
  }
  bool binary(nlohmann::json::binary_t &) override {
    return fail("binary data");
  }
  bool number_integer(int64_t) override { return fail("a negative number"); }

  bool number_unsigned(uint64_t value) override {
    if (!inArray)
      return fail("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return reject(where() + "the number " + std::to_string(value) +
                    " is too large");
    numbers.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string &value) override {
    if (depth != 2 || inArray)
      return fail("a string");
    if (inMetadata) {
      if (!metadata.emplace(field, value).second)
        return reject("metadata '" + field + "' appears twice");
      return true;
    }
    if (field != "dtype")
      return fail("a string");
    StatusOr<DType> dtype = dtypeFromSafetensors(value);
    if (!dtype.ok()) {
      error = dtype.status().withPrefix("tensor '" + entry.name + "'");
      return false;
    }
    entry.type.dtype = *dtype;
    return true;
  }

  bool start_object(size_t) override {
    if (depth == 2 || inArray)
      return fail("an object");
    ++depth;
    seen.clear();
    return true;
  }

  bool key(std::string &name) override {
    if (depth == 1) {
      if (!names.insert(name).second)
        return reject("tensor '" + name + "' appears twice");
      inMetadata = name == kMetadata;
      entry = Entry();
      entry.name = std::move(name);
      return true;
    }
    field = std::move(name);
    if (inMetadata)
      return true;
    if (field != "dtype" && field != "shape" && field != "data_offsets")
      return reject(where() + "unknown field '" + field + "'");
    if (!seen.insert(field).second)
      return reject(where() + "field '" + field + "' appears twice");
    return true;
  }

  bool end_object() override {
    if (--depth == 0 || inMetadata)
      return true;
    for (const char *name : {"dtype", "shape", "data_offsets"})
      if (!seen.count(name))
        return reject(where() + "field '" + name + "' is missing");
    entries.push_back(std::move(entry));
    return true;
  }

  bool start_array(size_t) override {
    if (depth != 2 || inArray || inMetadata || field == "dtype")
      return fail("an array");
    inArray = true;
    numbers.clear();
    return true;
  }

  bool end_array() override {
    inArray = false;
    if (field == "shape") {
      entry.type.shape = std::move(numbers);
      return true;
    }
    if (numbers.size() != 2 || numbers[0] > numbers[1])
      return reject(where() + "data_offsets must be two ascending numbers");
    entry.begin = static_cast<uint64_t>(numbers[0]);
    entry.end = static_cast<uint64_t>(numbers[1]);
    return true;
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::json::exception &e) override {
    return reject("not valid JSON at byte " + std::to_string(position) + " (" +
                  e.what() + ")");
  }

private:
  std::string where() const {
    return depth == 2 && !inMetadata ? "tensor '" + entry.name + "': " : "";
  }
  bool reject(std::string message) {
    error = dataLoss(std::move(message));
    return false;
  }
  bool fail(const std::string &what) {
    return reject(where() + what + " where the format has none");
  }

  int depth = 0;
  bool inMetadata = false, inArray = false;
  std::set<std::string> names, seen;
  std::string field;
  Entry entry;
  std::vector<int64_t> numbers;
};

Status checkRanges(std::vector<Entry> &entries, uint64_t dataBytes) {
  std::stable_sort(
      entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        return std::make_pair(a.begin, a.end) < std::make_pair(b.begin, b.end);
      });
  uint64_t at = 0;
  for (const Entry &entry : entries) {
    const std::string name = "tensor '" + entry.name + "'";
    StatusOr<size_t> bytes = checkedByteSize(entry.type);
    if (!bytes.ok())
      return dataLoss(name + ": " + bytes.status().message());
    if (entry.end - entry.begin != *bytes)
      return dataLoss(name + ": " + entry.type.str() + " needs " +
                      std::to_string(*bytes) + " bytes, data_offsets give " +
                      std::to_string(entry.end - entry.begin));
    if (entry.begin != at)
      return dataLoss(name + ": its bytes begin at " +
                      std::to_string(entry.begin) +
                      " of the data, the ones before end at " +
                      std::to_string(at) + ": an overlap or a hole");
    at = entry.end;
  }
  if (at != dataBytes)
    return dataLoss("the tensors take " + std::to_string(at) +
                    " bytes, the file holds " + std::to_string(dataBytes) +
                    " bytes of data");
  return Status();
}

} // namespace

size_t findSeal(const std::string &header) {
  // In a name the quotes would be escaped.
  const std::string key = "\"" + std::string(kSealKey) + "\":\"";
  const size_t at = header.find(key);
  const size_t value = at + key.size();
  const size_t digits = std::char_traits<char>::length(kNoSeal);
  return at == std::string::npos || value + digits > header.size() ? 0 : value;
}

StatusOr<Header> parseHeader(std::string_view text, uint64_t dataBytes) {
  if (text.empty() || text[0] != '{')
    return dataLoss(
        "the header does not begin with '{': not a safetensors file");
  try {
    HeaderReader reader;
    const bool parsed =
        nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
    if (!reader.error.ok())
      return reader.error;
    if (!parsed)
      return dataLoss("the header is not valid JSON");
    PIPEC_RETURN_IF_ERROR(checkRanges(reader.entries, dataBytes));
    return Header{std::move(reader.entries), std::move(reader.metadata)};
  } catch (const std::exception &e) {
    return dataLoss(std::string("the header cannot be read (") + e.what() +
                    ")");
  }
}

} // namespace pipec::safetensors
