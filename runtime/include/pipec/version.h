// The version of this pipec.
#ifndef PIPEC_VERSION_H
#define PIPEC_VERSION_H

namespace pipec {
constexpr const char *kVersion = "0.1.0";
} // namespace pipec

#endif // PIPEC_VERSION_H
