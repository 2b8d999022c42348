// From the schema's messages to the runtime's own types, checked on the way.
#ifndef PIPEC_RUNTIME_PACKAGE_CONVERT_H
#define PIPEC_RUNTIME_PACKAGE_CONVERT_H

#include "runtime/base/op.h"

#include "package.pb.h"

namespace pipec {

/// DataLoss for an unknown dtype, a negative dimension, a rank over 32 or a
/// size over 2^62.
StatusOr<TensorType> readTensorType(const schema::TensorType &type);
StatusOr<AttrValue> readAttribute(const schema::Attribute &attribute);
Origin readOrigin(const schema::Origin &origin);

/// The first element of a bool array that is neither 0 nor 1, or -1. Such a
/// byte is undefined behaviour for a kernel that reads it as a bool.
int64_t findBadBool(const TensorType &type, const void *data);

} // namespace pipec

#endif
