// What lies at the place of a package that is to be written.
#ifndef PIPEC_COMPILER_PACKAGETARGET_H
#define PIPEC_COMPILER_PACKAGETARGET_H

#include "pipec/status.h"

#include <string>

namespace pipec {

/// Whether all that lies in the folder `path` is what writePackage() leaves
/// there: a manifest of ours, and its stages' files. An error names what is
/// not: it may be all that a user has of it.
Status checkIsOurPackage(const std::string &path);

} // namespace pipec

#endif // PIPEC_COMPILER_PACKAGETARGET_H
