// Checks of places that are to be written to, before the work whose results go
// there.
#ifndef PIPEC_RUNTIME_BASE_WRITE_TARGET_H
#define PIPEC_RUNTIME_BASE_WRITE_TARGET_H

#include "pipec/status.h"

#include <string>

namespace pipec {

/// Where what is written to `path` lies, links followed, also to what is not
/// there yet: it is to be made beside that and take its place, not the links'.
/// An error for links in a circle, and for one to an open file of a process
/// (/dev/stdout), which can only be written as it comes.
StatusOr<std::string> followLinks(const std::string &path);

/// Whether `path`, links followed, is a device, a pipe or an open file of this
/// process: written to as it comes, and never replaced.
bool isStream(const std::string &path);

/// Whether something new may be made at `path`: its parent is a folder that may
/// be written to, which is tried. The message names that folder, not `path`.
Status checkParentFolder(const std::string &path);

/// The same for a folder at `path` that is made with its parents: the first of
/// them that exists is looked at.
Status checkFolderTarget(const std::string &path);

/// Whether a file at `path` may be written to, or made where there is none.
Status checkFileTarget(const std::string &path);

/// The same for a file that is made beside `path` and gets its name when it is
/// whole, as tensors are: what is there may be replaced, but no device.
Status checkWholeFileTarget(const std::string &path);

} // namespace pipec

#endif // PIPEC_RUNTIME_BASE_WRITE_TARGET_H
