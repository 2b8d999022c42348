// JSON files whose content is not trusted; private to runtime/checkpoint.
#ifndef PIPEC_RUNTIME_CHECKPOINT_JSON_FILE_H
#define PIPEC_RUNTIME_CHECKPOINT_JSON_FILE_H

#include "pipec/status.h"

#include <map>
#include <nlohmann/json.hpp>

namespace pipec {

/// The object that a file holds. Errors name the file: Io, and DataLoss for
/// what is not JSON, not an object, over 64 MiB, or nested more than 32 deep.
StatusOr<nlohmann::json> readJsonObject(const std::string &path);

/// An object's field of strings, name -> string. DataLoss names the field, not
/// the file; a missing field is an error.
StatusOr<std::map<std::string, std::string>>
stringMapField(const nlohmann::json &object, const std::string &field);

} // namespace pipec

#endif
