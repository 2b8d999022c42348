// The package on disk: manifest.json, stage<i>/program<v>.pb,
// stage<i>/weights.safetensors. Tests: test/unit/compiler/PackageWriterTest.cpp
// (atomicity, refusal, permuted weights).
#include "compiler/PackageWriter.h"

#include "compiler/PackageTarget.h"
#include "compiler/WeightStream.h"
#include "runtime/base/fingerprint.h"
#include "runtime/base/printable.h"
#include "runtime/base/temporaries.h"
#include "runtime/base/write_target.h"

#include <google/protobuf/util/json_util.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace pipec {
namespace {

/// Long copies say how far they are each time this much is written.
constexpr uint64_t kReportBytes = 500000000;

Status writeFile(const fs::path &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status()
              : ioError(path.string() +
                        ": cannot write: " + std::strerror(errno));
}

StatusOr<std::string> jsonOf(const schema::Manifest &manifest) {
  google::protobuf::util::JsonPrintOptions print;
  print.add_whitespace = true;
  print.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(manifest, &json, print).ok())
    return internalError("the manifest cannot be written as JSON");
  return json;
}

StatusOr<std::string> bytesOf(const schema::Program &program, int stage) {
  std::string bytes;
  if (!program.SerializeToString(&bytes))
    return internalError("the program of stage " + std::to_string(stage) +
                         " is too large for a protobuf message");
  return bytes;
}

class Writer {
public:
  Writer(const CompiledModel &model, const fs::path &folder,
         const WriteOptions &options, const Reporter &report)
      : manifest(model.manifest), model(model), folder(folder),
        options(options), report(report) {}

  Status run() {
    for (int s = 0; s < manifest.stages_size(); ++s)
      PIPEC_RETURN_IF_ERROR(writeStage(s));
    PIPEC_ASSIGN_OR_RETURN(const std::string json, jsonOf(manifest));
    return writeFile(folder / "manifest.json", json);
  }

private:
  /// A file of the model that weights stay in.
  struct InPlace {
    std::string path, fingerprint;
    uint64_t size = 0;
    int64_t mtimeNs = 0;
  };

  std::map<std::string, InPlace> files;
  schema::Manifest manifest; // a copy: gets the places of external weights
  const CompiledModel &model;
  const fs::path &folder;
  const WriteOptions &options;
  const Reporter &report;

  Status writeStage(int s) {
    fs::path stage = folder / ("stage" + std::to_string(s));
    std::error_code error;
    fs::create_directory(stage, error);
    if (error)
      return ioError(stage.string() + ": " + error.message());
    PIPEC_RETURN_IF_ERROR(writePrograms(s, model.programs[s], "program"));
    if (s < static_cast<int>(model.backwardInput.size())) {
      PIPEC_RETURN_IF_ERROR(
          writePrograms(s, model.backwardInput[s], "backward_input"));
      PIPEC_RETURN_IF_ERROR(
          writePrograms(s, model.backwardWeight[s], "backward_weight"));
      PIPEC_RETURN_IF_ERROR(
          writePrograms(s, model.lossTotals[s], "loss_totals"));
    }
    return writeWeights(s, stage / "weights.safetensors");
  }

  Status writePrograms(int s, const std::vector<schema::Program> &programs,
                       const std::string &name) {
    fs::path stage = folder / ("stage" + std::to_string(s));
    for (size_t v = 0; v < programs.size(); ++v) {
      PIPEC_ASSIGN_OR_RETURN(const std::string bytes, bytesOf(programs[v], s));
      const std::string file = name + std::to_string(v) + ".pb";
      PIPEC_RETURN_IF_ERROR(writeFile(stage / file, bytes));
      (*manifest.mutable_stages(s)->mutable_program_xxh3())[file] =
          digestOf(bytes.data(), bytes.size());
    }
    return {};
  }

  bool staysInPlace(const WeightSource &source) const {
    return options.weightsInPlace && source.inMemory.empty();
  }

  Status writeWeights(int s, const fs::path &path) {
    std::vector<SafetensorsWriter::Item> items;
    std::vector<const WeightSource *> sources;
    uint64_t total = 0;
    for (int w = 0; w < manifest.stages(s).weights_size(); ++w) {
      schema::Weight *weight = manifest.mutable_stages(s)->mutable_weights(w);
      const WeightSource &source = model.weights[s][w];
      TensorType type{
          static_cast<DType>(weight->type().dtype()),
          {weight->type().shape().begin(), weight->type().shape().end()}};
      if (staysInPlace(source)) {
        PIPEC_RETURN_IF_ERROR(setExternal(weight, type, source));
        continue;
      }
      items.push_back({weight->name(), type});
      sources.push_back(&source);
      total += type.byteSize();
    }
    report("writing stage " + std::to_string(s) + ": " +
           std::to_string(items.size()) + " weights, " +
           std::to_string(total / 1000000) + " MB");
    PIPEC_ASSIGN_OR_RETURN(
        auto writer, SafetensorsWriter::create(path.string(), items, false, {},
                                               SafetensorsWriter::Seal::Yes));
    uint64_t done = 0, reported = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      PIPEC_RETURN_IF_ERROR(streamWeight(items[i].type, *sources[i], *writer)
                                .withPrefix("weight " + items[i].name));
      done += items[i].type.byteSize();
      if (done - reported < kReportBytes || i + 1 == items.size())
        continue;
      reported = done;
      report("writing stage " + std::to_string(s) + ": " +
             std::to_string(done / 1000000) + " of " +
             std::to_string(total / 1000000) + " MB");
    }
    return writer->finish();
  }

  /// Looks at a file of the model once.
  StatusOr<const InPlace *> inPlace(const std::string &file) {
    InPlace &known = files[file];
    if (!known.path.empty())
      return &known;
    std::error_code error;
    const fs::path absolute = fs::canonical(file, error);
    if (error)
      return ioError(file + ": " + error.message());
    PIPEC_ASSIGN_OR_RETURN(auto mapped, MappedFile::open(absolute.string()));
    known = {absolute.string(), fingerprintOf(*mapped), mapped->size(),
             mapped->mtimeNs()};
    return &known;
  }

  Status setExternal(schema::Weight *weight, const TensorType &type,
                     const WeightSource &source) {
    const InPlace *file = nullptr;
    PIPEC_ASSIGN_OR_RETURN(file, inPlace(source.file));
    schema::ExternalBytes *external = weight->mutable_external();
    // JSON has no other text; the bytes stand in base64.
    if (printable(file->path) == file->path)
      external->set_file(file->path);
    else
      external->set_file_bytes(file->path);
    external->set_offset(source.offset);
    external->set_length(source.length);
    external->set_file_size(file->size);
    external->set_file_mtime_ns(file->mtimeNs);
    external->set_fingerprint(file->fingerprint);
    for (size_t k = 0; k < source.permutation.size(); ++k) {
      external->add_permutation(source.permutation[k]);
      external->add_stored_shape(0);
    }
    for (size_t k = 0; k < source.permutation.size(); ++k)
      external->set_stored_shape(static_cast<int>(source.permutation[k]),
                                 type.shape[k]);
    return {};
  }
};

/// Links followed: what they name is replaced, not they.
StatusOr<fs::path> packagePath(const std::string &path) {
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename())
    target = target.parent_path();
  if (target.empty())
    return invalidArgument("the package needs a name, such as model.pipe");
  PIPEC_ASSIGN_OR_RETURN(target, followLinks(target.string()));
  return target;
}

/// What lies at `path` may be replaced only when asked, and only when it is a
/// package.
Status checkTarget(const fs::path &path, bool overwrite) {
  PIPEC_RETURN_IF_ERROR(checkParentFolder(path));
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored)))
    return {};
  if (!overwrite)
    return invalidArgument(path.string() +
                           " exists; pass --overwrite to replace it");
  return checkIsOurPackage(path.string());
}

/// The new package gets the old one's name; the old one is then at `folder`, to
/// be removed with it. One step where the file system can.
std::error_code exchange(const fs::path &folder, const fs::path &target) {
  std::error_code error, ignored;
  if (::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, target.c_str(),
                  RENAME_EXCHANGE) == 0)
    return error;
  if (errno != EINVAL && errno != ENOSYS)
    return {errno, std::generic_category()};
  const fs::path aside = folder.string() + ".old";
  fs::rename(target, aside, error);
  if (error)
    return error;
  fs::rename(folder, target, error);
  fs::rename(aside, error ? target : folder, ignored);
  return error;
}

} // namespace

StatusOr<schema::Manifest> readManifest(const std::string &path) {
  std::ifstream file(fs::path(path) / "manifest.json", std::ios::binary);
  std::string json((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  schema::Manifest manifest;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  auto parsed =
      google::protobuf::util::JsonStringToMessage(json, &manifest, options);
  if (!file.good() && json.empty())
    return ioError(path + "/manifest.json: cannot read");
  if (!parsed.ok())
    return dataLoss(path + "/manifest.json: " + std::string(parsed.message()));
  return manifest;
}

StatusOr<std::map<std::string, std::string>>
packageFiles(const CompiledModel &model) {
  std::map<std::string, std::string> files;
  PIPEC_ASSIGN_OR_RETURN(files["manifest.json"], jsonOf(model.manifest));
  for (const auto &[stem, stages] :
       {std::pair("program", &model.programs),
        std::pair("backward_input", &model.backwardInput),
        std::pair("backward_weight", &model.backwardWeight),
        std::pair("loss_totals", &model.lossTotals)})
    for (size_t s = 0; s < stages->size(); ++s)
      for (size_t v = 0; v < (*stages)[s].size(); ++v) {
        PIPEC_ASSIGN_OR_RETURN(files["stage" + std::to_string(s) + "/" + stem +
                                     std::to_string(v) + ".pb"],
                               bytesOf((*stages)[s][v], static_cast<int>(s)));
      }
  return files;
}

Status checkPackageTarget(const std::string &path, bool overwrite) {
  PIPEC_ASSIGN_OR_RETURN(const fs::path target, packagePath(path));
  if (!overwrite) // of a link, its own name
    PIPEC_RETURN_IF_ERROR(checkTarget(fs::path(path), false));
  return checkTarget(target, overwrite);
}

Status writePackage(const CompiledModel &model, const std::string &path,
                    const WriteOptions &options, const Reporter &report) {
  PIPEC_RETURN_IF_ERROR(checkPackageTarget(path, options.overwrite));
  PIPEC_ASSIGN_OR_RETURN(const fs::path target, packagePath(path));
  PIPEC_ASSIGN_OR_RETURN(auto temporary,
                         TemporaryFolder::create(target.string() + ".tmp"));
  const fs::path folder = temporary->path();
  std::error_code error;
  fs::permissions(folder, fs::perms(0755), error);
  PIPEC_RETURN_IF_ERROR(Writer(model, folder, options, report).run());
  if (options.check)
    if (Status opened = options.check(folder.string()); !opened.ok())
      return internalError(target.string() +
                           ": not written, for what was made could not be "
                           "opened: " +
                           opened.message());
  auto whole = postponeInterrupts();
  PIPEC_RETURN_IF_ERROR(checkTarget(target, options.overwrite));
  if (options.overwrite && fs::exists(target))
    error = exchange(folder, target);
  else
    fs::rename(folder, target, error);
  return error ? ioError(target.string() + ": " + error.message()) : Status();
}

} // namespace pipec
