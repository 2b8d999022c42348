// Writes the test MLP in two stages: write_test_package FOLDER. Serves
// test/install.
#include "test/unit/runtime/PackageBuilder.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 1;
  }
  pipec::test::PackageBuilder builder(pipec::test::mlp(2, {2}));
  pipec::Status status = builder.write(argv[1]);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
