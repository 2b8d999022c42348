// Checks of places that are to be written to, before the work whose results go
// there.
#ifndef PIPEC_RUNTIME_BASE_WRITE_TARGET_H
#define PIPEC_RUNTIME_BASE_WRITE_TARGET_H

#include "pipec/status.h"

#include <string>

namespace pipec {

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
