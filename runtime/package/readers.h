// The steps of reading a package; each checks what it reads. Errors are
// DataLoss and start with the file's path.
#ifndef PIPEC_RUNTIME_PACKAGE_READERS_H
#define PIPEC_RUNTIME_PACKAGE_READERS_H

#include "runtime/package/files.h"
#include "runtime/package/package_impl.h"

#include "package.pb.h"

namespace pipec {

/// Fills everything of `package` but programs and routing.
Status readManifest(const FileBytes &bytes, const std::string &path,
                    Package::Impl &package);

/// The program of a phase of `stage` for `variant`, checked against the
/// manifest (PKG-G1, PKG-G2, PKG-G3).
StatusOr<ProgramDesc> readProgram(const FileBytes &bytes,
                                  const std::string &path,
                                  const Package::Impl &package, size_t stage,
                                  size_t variant, ProgramPhase phase);

/// PKG-G3 of one program, whose indices are checked; marks reshapes as aliases.
Status checkArena(ProgramDesc &program);

/// The schedule of a package for training, whose stages and transfers are
/// read; proved by verifySchedule.
Status readSchedule(const schema::Schedule &source, Package::Impl &package);

/// PKG-G4 over the stages that are here; fills `routing`.
Status checkRouting(Package::Impl &package);

} // namespace pipec

#endif
