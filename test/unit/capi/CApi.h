// Short ways for tests of the C interface.
#ifndef PIPEC_TEST_UNIT_CAPI_CAPI_H
#define PIPEC_TEST_UNIT_CAPI_CAPI_H

#include "pipec/pipec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pipec::test {

/// An error's place: CError error; f(.., error.at()); error.text().
class CError {
public:
  CError() = default;
  CError(const CError &) = delete;
  CError &operator=(const CError &) = delete;
  ~CError() { pipec_error_free(error); }
  pipec_error **at() {
    pipec_error_free(error);
    error = nullptr;
    return &error;
  }
  std::string text() const { return pipec_error_message(error); }
  pipec_status status() const { return pipec_error_status(error); }
  bool isEmpty() const { return !error; }

private:
  pipec_error *error = nullptr;
};

/// A tensor with its own memory, as a C program would pass it.
template <typename T> struct COwned {
  COwned(std::string name, int32_t dtype, std::vector<int64_t> shape)
      : name(std::move(name)), shape(std::move(shape)) {
    size_t count = 1;
    for (int64_t size : this->shape)
      count *= static_cast<size_t>(size);
    data.resize(count);
    this->dtype = dtype;
  }
  pipec_tensor view() {
    return {name.c_str(), dtype, static_cast<int32_t>(shape.size()),
            shape.data(), data.data()};
  }
  std::string name;
  int32_t dtype;
  std::vector<int64_t> shape;
  std::vector<T> data;
};

} // namespace pipec::test

/// The call fails with `code` and a message that holds `part`.
#define EXPECT_C_ERROR(call, code, part)                                       \
  do {                                                                         \
    EXPECT_EQ((call), static_cast<pipec_status>(code)) << error.text();        \
    EXPECT_EQ(error.status(), static_cast<pipec_status>(code));                \
    EXPECT_NE(error.text().find(part), std::string::npos) << error.text();     \
  } while (false)
#define ASSERT_C_OK(call)                                                      \
  do {                                                                         \
    ASSERT_EQ((call), static_cast<pipec_status>(PIPEC_OK)) << error.text();    \
    ASSERT_TRUE(error.isEmpty());                                              \
  } while (false)

#endif
