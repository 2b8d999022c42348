// Writes and reads checkpoint.json. In and out: plain data.
// Tests: test/unit/checkpoint/CheckpointTest.cpp, CheckpointCorruptTest.cpp.
#include "runtime/checkpoint/checkpoint_format.h"

#include "runtime/checkpoint/json_file.h"

#include <limits>

namespace pipec {
namespace {

using Json = nlohmann::json;

constexpr const char *kFormat = "pipec-checkpoint";

StatusOr<uint64_t> unsignedField(const Json &object, const char *field,
                                 uint64_t most) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number_unsigned() ||
      found->get<uint64_t>() > most)
    return dataLoss(std::string("field '") + field +
                    "' is missing or not a whole number of at most " +
                    std::to_string(most));
  return found->get<uint64_t>();
}

StatusOr<std::vector<std::string>> stringsOf(const Json &array,
                                             const char *field) {
  std::vector<std::string> strings;
  bool good = array.is_array();
  if (good)
    for (const Json &item : array) {
      good &= item.is_string();
      if (item.is_string())
        strings.push_back(item.get<std::string>());
    }
  if (!good)
    return dataLoss(std::string("field '") + field +
                    "' is not an array of strings");
  return strings;
}

StatusOr<TiedNames> tiedField(const Json &object) {
  const auto found = object.find("tied");
  if (found == object.end() || !found->is_array())
    return dataLoss("field 'tied' is missing or not an array");
  TiedNames tied;
  for (const Json &group : *found) {
    PIPEC_ASSIGN_OR_RETURN(tied.emplace_back(), stringsOf(group, "tied"));
  }
  return tied;
}

Status checkFormat(const Json &object) {
  const auto format = object.find("format");
  if (format == object.end() || *format != kFormat)
    return dataLoss(std::string("field 'format' is not '") + kFormat +
                    "': no checkpoint of pipec");
  PIPEC_ASSIGN_OR_RETURN(
      const uint64_t version,
      unsignedField(object, "version", std::numeric_limits<uint64_t>::max()));
  if (version > static_cast<uint64_t>(kCheckpointVersion))
    return unsupported("checkpoint version " + std::to_string(version) +
                       ", this pipec reads up to " +
                       std::to_string(kCheckpointVersion) +
                       ": use a later pipec");
  return Status();
}

StatusOr<CheckpointContents> parse(const Json &object) {
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  PIPEC_RETURN_IF_ERROR(checkFormat(object));
  CheckpointContents contents;
  CheckpointInfo &info = contents.info;
  PIPEC_ASSIGN_OR_RETURN(info.step, unsignedField(object, "step", most));
  PIPEC_ASSIGN_OR_RETURN(
      info.seed,
      unsignedField(object, "seed", std::numeric_limits<uint64_t>::max()));
  PIPEC_ASSIGN_OR_RETURN(info.dataPosition,
                         unsignedField(object, "data_position", most));
  PIPEC_ASSIGN_OR_RETURN(info.optimizer, stringMapField(object, "optimizer"));
  PIPEC_ASSIGN_OR_RETURN(info.notes, stringMapField(object, "notes"));
  PIPEC_ASSIGN_OR_RETURN(contents.weightFiles,
                         stringMapField(object, "weight_map"));
  PIPEC_ASSIGN_OR_RETURN(contents.optimizerFiles,
                         stringMapField(object, "optimizer_map"));
  PIPEC_ASSIGN_OR_RETURN(contents.tied, tiedField(object));
  PIPEC_ASSIGN_OR_RETURN(contents.buffers,
                         stringsOf(object.value("buffers", Json()), "buffers"));
  return contents;
}

} // namespace

std::string checkpointJson(const CheckpointContents &contents) {
  const CheckpointInfo &info = contents.info;
  nlohmann::ordered_json object;
  object["format"] = kFormat;
  object["version"] = kCheckpointVersion;
  object["step"] = info.step;
  object["seed"] = info.seed;
  object["data_position"] = info.dataPosition;
  object["optimizer"] = Json(info.optimizer);
  object["notes"] = Json(info.notes);
  object["tied"] = Json(contents.tied);
  object["buffers"] = Json(contents.buffers);
  object["weight_map"] = Json(contents.weightFiles);
  object["optimizer_map"] = Json(contents.optimizerFiles);
  // A path in the notes may be no UTF-8; it is not worth losing the rest for.
  return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<CheckpointContents> readCheckpointJson(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(const Json object, readJsonObject(path));
  StatusOr<CheckpointContents> contents = parse(object);
  if (!contents.ok())
    return contents.status().withPrefix("'" + path + "'");
  return contents;
}

} // namespace pipec
