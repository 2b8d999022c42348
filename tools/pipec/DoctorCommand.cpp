// `pipec doctor`: what this build and this machine offer.
// Tests: test/e2e/cli.
#include "frontends/OpenModel.h"
#include "pipec/version.h"
#include "runtime/kernels/kernel.h"
#include "runtime/schema/version.h"
#include "tools/pipec/Commands.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include <nlohmann/json.hpp>

#ifdef PIPEC_WITH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

#include <cstdio>
#include <thread>
#include <unistd.h>

namespace pipec::tool {
namespace {

using Json = nlohmann::ordered_json;

std::string oneDnnVersion() {
#ifdef PIPEC_WITH_ONEDNN
  const dnnl_version_t *v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
#else
  return "";
#endif
}

Json collect() {
  Json report;
  report["pipec"] = kVersion;
  report["package_format"] = kPackageFormatVersion;
  report["llvm"] = LLVM_VERSION_STRING;
  report["onednn"] = oneDnnVersion();
  for (const frontend::Format &format : frontend::formats())
    report["frontends"][format.key][format.versions] = {format.oldest,
                                                        format.newest};
  report["kernels"] = KernelRegistry::get().ops().size();
  report["devices"] = {"cpu"};
  report["transports"] = {"local"};
  auto features = llvm::sys::getHostCPUFeatures();
  Json vector = Json::array();
  for (const char *name : {"avx2", "fma", "avx512f", "avx512bf16", "amx-bf16"})
    if (features.lookup(name))
      vector.push_back(name);
  report["cpu"] = {
      {"name", llvm::sys::getHostCPUName().str()},
      {"cores", std::thread::hardware_concurrency()},
      {"vector", vector},
      {"memory_bytes",
       static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)}};
  return report;
}

void print(const Json &r) {
  std::string vector;
  for (const auto &name : r["cpu"]["vector"])
    vector += " " + name.get<std::string>();
  std::printf("pipec %s, package format %u\n", kVersion, kPackageFormatVersion);
  std::printf("  LLVM and MLIR   %s\n", r["llvm"].get<std::string>().c_str());
  std::string onednn = r["onednn"];
  std::printf(
      "  oneDNN          %s\n",
      onednn.empty()
          ? "not in this build: the reference kernels do everything, slowly"
          : onednn.c_str());
  std::string files;
  for (const frontend::Format &format : frontend::formats())
    files += (files.empty() ? "" : "; ") + std::string(format.name) + ", " +
             format.versions + " " + std::to_string(format.oldest) + " to " +
             std::to_string(format.newest);
  std::printf("  model files     %s\n", files.c_str());
  std::printf("  kernels         %zu operations\n", r["kernels"].get<size_t>());
  std::printf("  devices         cpu\n  transports      local (threads of one "
              "process)\n");
  std::printf("  this machine    %s, %u cores, %.1f GiB,%s\n",
              r["cpu"]["name"].get<std::string>().c_str(),
              r["cpu"]["cores"].get<unsigned>(),
              r["cpu"]["memory_bytes"].get<double>() / (1 << 30),
              vector.empty() ? " no vector extension that matters here"
                             : vector.c_str());
}

} // namespace

void addDoctorCommand(CLI::App &app, Exit &) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "doctor", "Show what this build and this machine offer");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] {
    Json report = collect();
    if (*json)
      std::printf(
          "%s\n",
          report.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    else
      print(report);
  });
}

} // namespace pipec::tool
