// Finds tensors by name and copies them. In: safetensors files, destinations
// with their names. Out: filled destinations, or what does not fit.
// Tests: test/unit/checkpoint/TensorTableTest.cpp.
#include "runtime/checkpoint/tensor_table.h"

#include <cstring>
#include <set>
#include <sstream>

namespace pipec {
namespace {

std::string quoted(const std::string &text) { return "'" + text + "'"; }

bool isPlainName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

bool canWiden(DType from, DType to) {
  return to == DType::F32 && (from == DType::F16 || from == DType::BF16);
}

void copyWidened(const Tensor &from, const TensorView &to) {
  const uint16_t *bits = from.as<uint16_t>();
  float *values = to.as<float>();
  const bool isHalf = from.dtype() == DType::F16;
  for (int64_t i = 0, n = from.numElements(); i < n; ++i)
    values[i] = isHalf ? halfToFloat(bits[i]) : bfloat16ToFloat(bits[i]);
}

/// A byte that is neither 0 nor 1 is undefined behaviour for a kernel that
/// reads it as a bool.
bool hasBadBool(const Tensor &tensor) {
  if (tensor.dtype() != DType::Bool)
    return false;
  const uint8_t *bytes = tensor.as<uint8_t>();
  for (size_t i = 0; i < tensor.byteSize(); ++i)
    if (bytes[i] > 1)
      return true;
  return false;
}

bool sameBytes(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() &&
         (a.byteSize() == 0 ||
          std::memcmp(a.data(), b.data(), a.byteSize()) == 0);
}

} // namespace

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t most = 10;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? ", " : "") + quoted(names[i]);
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::string NameReport::str() const {
  std::string text;
  if (!missing.empty())
    text += "missing, " + std::to_string(missing.size()) + ": " +
            listNames(missing) + "\n";
  if (!surplus.empty())
    text += "not used, " + std::to_string(surplus.size()) + ": " +
            listNames(surplus) + "\n";
  return text;
}

std::string NameReport::indented() const {
  std::istringstream lines(str());
  std::string text, line;
  while (std::getline(lines, line))
    text += "\n  " + line;
  return text;
}

Status TensorTable::add(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
  for (const std::string &name : file.names())
    if (const auto found = holder.find(name); found != holder.end())
      return invalidArgument(quoted(name) + " is in " +
                             quoted(opened[found->second].path()) + " and in " +
                             quoted(path) + ": leave out one of the files");
  for (const std::string &name : file.names())
    holder[name] = opened.size();
  opened.push_back(std::move(file));
  return Status();
}

Status
TensorTable::addIndexed(const std::string &folder,
                        const std::map<std::string, std::string> &fileOf) {
  std::map<std::string, size_t> indexOf; // file name -> index in `opened`
  const std::string prefix = folder + "/";
  for (const auto &[name, file] : fileOf) {
    if (!isPlainName(file))
      return dataLoss(quoted(name) + " is said to be in " + quoted(file) +
                      ", which is not the name of a file beside it");
    auto [at, isNew] = indexOf.emplace(file, opened.size());
    if (isNew) {
      PIPEC_ASSIGN_OR_RETURN(SafetensorsFile shard,
                             SafetensorsFile::open(prefix + file));
      opened.push_back(std::move(shard));
    }
    if (!opened[at->second].contains(name))
      return dataLoss(quoted(name) + " is said to be in " + quoted(file) +
                      ", which lacks it: the files are of different versions, "
                      "copy or make them again");
    if (const auto [other, inserted] = holder.emplace(name, at->second);
        !inserted)
      return invalidArgument(quoted(name) + " is in " +
                             quoted(opened[other->second].path()) + " and in " +
                             quoted(opened[at->second].path()) +
                             ": leave out one of the files");
  }
  return Status();
}

void TensorTable::tie(const TiedNames &tied) {
  groups = tied;
  for (size_t i = 0; i < groups.size(); ++i)
    for (const std::string &name : groups[i])
      groupOf[name] = i;
}

std::vector<std::string> TensorTable::names() const {
  std::vector<std::string> names;
  for (const auto &[name, index] : holder)
    names.push_back(name);
  return names;
}

const TensorType *TensorTable::find(const std::string &name) const {
  const auto found = holder.find(name);
  return found == holder.end() ? nullptr : opened[found->second].find(name);
}

StatusOr<Tensor> TensorTable::get(const std::string &name) const {
  const auto found = holder.find(name);
  if (found == holder.end())
    return invalidArgument(quoted(where) + " has no tensor " + quoted(name));
  return opened[found->second].get(name);
}

std::string TensorTable::fileOf(const std::string &name) const {
  const auto found = holder.find(name);
  return found == holder.end() ? "" : opened[found->second].path();
}

std::vector<std::string> TensorTable::present(const NamedView &target) const {
  std::vector<std::string> found;
  std::set<std::string> seen;
  auto visit = [&](const std::string &name) {
    if (holder.count(name) && seen.insert(name).second)
      found.push_back(name);
  };
  for (const std::string &name : target.names)
    visit(name);
  for (const std::string &name : target.names)
    if (const auto at = groupOf.find(name); at != groupOf.end())
      for (const std::string &other : groups[at->second])
        visit(other);
  return found;
}

bool TensorTable::isTied(const std::string &a, const std::string &b) const {
  const auto first = groupOf.find(a), second = groupOf.find(b);
  return first != groupOf.end() && second != groupOf.end() &&
         first->second == second->second;
}

NameReport TensorTable::match(const std::vector<NamedView> &targets) const {
  NameReport report;
  std::set<std::string> used;
  for (const NamedView &target : targets) {
    const std::vector<std::string> found = present(target);
    used.insert(found.begin(), found.end());
    if (found.empty())
      report.missing.push_back(target.names[0]);
  }
  for (const auto &[name, index] : holder)
    if (!used.count(name))
      report.surplus.push_back(name);
  return report;
}

StatusOr<std::optional<Tensor>>
TensorTable::choose(const NamedView &target, const LoadRules &rules) const {
  const std::vector<std::string> found = present(target);
  if (found.empty())
    return std::optional<Tensor>();
  PIPEC_ASSIGN_OR_RETURN(const Tensor tensor, get(found[0]));
  const TensorType &need = target.view.type;
  const bool fits =
      tensor.type() == need || (rules.widen && tensor.shape() == need.shape &&
                                canWiden(tensor.dtype(), need.dtype));
  if (!fits)
    return invalidArgument(quoted(found[0]) + " is " + tensor.type().str() +
                           " in " + quoted(fileOf(found[0])) +
                           ", the model needs " + need.str());
  if (hasBadBool(tensor))
    return dataLoss(quoted(found[0]) + " in " + quoted(fileOf(found[0])) +
                    " is bool, but holds bytes other than 0 and 1");
  for (size_t i = 1; rules.compareTied && i < found.size(); ++i) {
    if (isTied(found[0], found[i]))
      continue;
    PIPEC_ASSIGN_OR_RETURN(const Tensor other, get(found[i]));
    if (!sameBytes(tensor, other))
      return invalidArgument(quoted(found[0]) + " and " + quoted(found[i]) +
                             " are one tensor in the model, but " +
                             quoted(where) +
                             " holds different values for them: remove one, "
                             "or separate them with --untie");
  }
  return std::optional<Tensor>(tensor);
}

Status TensorTable::load(const std::vector<NamedView> &targets,
                         const LoadRules &rules) const {
  std::vector<Copy> copies;
  std::vector<std::string> missing;
  for (const NamedView &target : targets) {
    PIPEC_ASSIGN_OR_RETURN(const std::optional<Tensor> tensor,
                           choose(target, rules));
    if (tensor)
      copies.push_back({*tensor, target.view});
    else
      missing.push_back(target.names[0]);
  }
  if (!missing.empty() && !rules.allowMissing)
    return invalidArgument(
        quoted(where) + " lacks " + std::to_string(missing.size()) +
        " of the " + std::to_string(targets.size()) +
        " tensors that are to be read: " + listNames(missing));
  for (const Copy &copy : copies) {
    if (copy.from.dtype() != copy.to.type.dtype)
      copyWidened(copy.from, copy.to);
    else if (const size_t bytes = copy.from.byteSize())
      std::memcpy(copy.to.data, copy.from.data(), bytes);
  }
  return Status();
}

} // namespace pipec
