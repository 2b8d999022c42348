// Short ways for tests to open, run and compare.
#ifndef PIPEC_TEST_UNIT_RUNTIME_TESTSESSION_H
#define PIPEC_TEST_UNIT_RUNTIME_TESTSESSION_H

#include "pipec/session.h"
#include "test/unit/runtime/PackageBuilder.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pipec::test {

inline SessionOptions referenceOptions(int queueCapacity = 2) {
  SessionOptions options;
  options.referenceKernels = true;
  options.queueCapacity = queueCapacity;
  return options;
}

inline RunOptions pieces(int64_t microbatches) {
  RunOptions options;
  options.microbatches = microbatches;
  return options;
}

/// A session on a package of its own folder.
struct TestSession {
  explicit TestSession(const Model &model,
                       const SessionOptions &options = referenceOptions())
      : TestSession(PackageBuilder(model), options) {}
  explicit TestSession(const PackageBuilder &builder,
                       const SessionOptions &options = referenceOptions())
      : package(openBuilt(builder, folder / "m.pipe")) {
    auto made = Session::create(package, options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (made.ok())
      session = std::move(*made);
  }
  StatusOr<TensorMap> run(const TensorMap &inputs, int64_t microbatches = 0) {
    return session->run(inputs, pieces(microbatches));
  }

  TempFolder folder;
  Package package;
  std::unique_ptr<Session> session;
};

inline bool sameBits(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() &&
         (a.byteSize() == 0 ||
          std::memcmp(a.data(), b.data(), a.byteSize()) == 0);
}

inline std::vector<float> floats(const Tensor &tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.numElements()};
}

/// `part` occurs in the message of `status`, which has `code`.
inline void expectError(const Status &status, StatusCode code,
                        const std::string &part) {
  EXPECT_EQ(static_cast<int>(status.getCode()), static_cast<int>(code))
      << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos)
      << "\"" << status.message() << "\" lacks \"" << part << "\"";
}

} // namespace pipec::test

#endif
