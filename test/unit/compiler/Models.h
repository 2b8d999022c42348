// Where the tests' own models lie, and a folder for what a test writes.
#ifndef PIPEC_TEST_UNIT_COMPILER_MODELS_H
#define PIPEC_TEST_UNIT_COMPILER_MODELS_H

#include <filesystem>
#include <string>
#include <unistd.h>

namespace pipec::test {

std::string modelPath(const std::string &name,
                      const std::string &file = "model.onnx");

/// Removed with all that it holds at the end of its life.
class TestFolder {
public:
  TestFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "pipec-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const {
    return (path / name).string();
  }
  std::filesystem::path path;
};

inline void ignore(const std::string &) {}

} // namespace pipec::test

#endif
