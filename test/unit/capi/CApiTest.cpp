// pipec.h: versions, errors, packages and sessions; and that wrong arguments
// are errors. Training:
// test/unit/compiler/CApiTrainingTest.cpp.
#include "test/unit/capi/CApi.h"
#include "test/unit/runtime/TestSession.h"

#include <atomic>
#include <thread>

using namespace pipec;
using namespace pipec::test;

extern "C" uint32_t abi_version_from_c(void);

namespace {

class CApi : public ::testing::Test {
protected:
  void SetUp() override {
    Package built = openBuilt(PackageBuilder(mlp(2, {2})), path);
    ASSERT_C_OK(pipec_package_open(path.c_str(), &package, error.at()));
  }
  ~CApi() override { pipec_package_free(package); }

  pipec_session *createSession() {
    pipec_session *session = nullptr;
    EXPECT_EQ(pipec_session_create(package, nullptr, &session, error.at()),
              PIPEC_OK)
        << error.text();
    return session;
  }

  TempFolder folder;
  const std::string path = folder / "m.pipe";
  CError error;
  pipec_package *package = nullptr;
  COwned<float> x{"x", PIPEC_F32, {4, 4}};
};

TEST_F(CApi, HeaderIsC99AndItsVersionIsTheLibrarys) {
  EXPECT_EQ(abi_version_from_c(), uint32_t(PIPEC_ABI_VERSION));
}

TEST_F(CApi, DescribesAPackage) {
  EXPECT_EQ(pipec_package_is_trainable(package), 0);
  EXPECT_EQ(pipec_package_stage_count(package), 2u);
  EXPECT_EQ(pipec_package_variant_count(package), 1u);
  ASSERT_EQ(pipec_package_input_count(package), 1u);
  pipec_input input = {};
  input.size = sizeof input;
  ASSERT_C_OK(pipec_package_input(package, 0, 0, &input, error.at()));
  EXPECT_STREQ(input.name, "x");
  EXPECT_EQ(input.dtype, PIPEC_F32);
  ASSERT_EQ(input.rank, 2);
  EXPECT_EQ(input.shape[0], 2);
  EXPECT_EQ(input.role, PIPEC_DATA);
  EXPECT_EQ(input.whole, 0);
  EXPECT_C_ERROR(pipec_package_input(package, 1, 0, &input, error.at()),
                 PIPEC_INVALID_ARGUMENT, "no input 1");
  EXPECT_C_ERROR(pipec_package_input(package, 0, 1, &input, error.at()),
                 PIPEC_INVALID_ARGUMENT, "microbatch size 1");
  input.size = 0;
  EXPECT_C_ERROR(pipec_package_input(package, 0, 0, &input, error.at()),
                 PIPEC_INVALID_ARGUMENT, "size is not set");
}

TEST_F(CApi, WritesNoMoreOfAResultThanTheCallerHas) {
  pipec_input input = {};
  input.size = offsetof(pipec_input, rank);
  input.rank = 77;
  ASSERT_C_OK(pipec_package_input(package, 0, 0, &input, error.at()));
  EXPECT_STREQ(input.name, "x");
  EXPECT_EQ(input.rank, 77);
}

TEST_F(CApi, ASessionUsedBySeveralThreadsSaysSo) {
  pipec_session *session = createSession();
  std::atomic<int> right{0}, refused{0}, other{0};
  auto work = [&] {
    COwned<float> own{"x", PIPEC_F32, {4, 4}};
    const pipec_tensor input = own.view();
    for (int i = 0; i < 200; ++i) {
      CError failure;
      pipec_tensors *outputs = nullptr;
      const pipec_status status =
          pipec_session_run(session, &input, 1, 0, &outputs, failure.at());
      const bool isRefused =
          status == PIPEC_INVALID_ARGUMENT &&
          failure.text().find("in use by another thread") != std::string::npos;
      ++(status == PIPEC_OK ? right : isRefused ? refused : other);
      pipec_tensors_free(outputs);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(other, 0);
  EXPECT_GT(right, 0);
  EXPECT_EQ(right + refused, 800);
  pipec_session_free(session);
}

TEST_F(CApi, OpensWithFoldersThatAreAllowed) {
  pipec_package_options options;
  pipec_package_options_init(&options, sizeof options);
  pipec_package *opened = nullptr;
  const char *const folders[] = {"/", nullptr};
  options.allow_external = folders;
  options.allow_external_count = 1;
  ASSERT_C_OK(
      pipec_package_open_with(path.c_str(), &options, &opened, error.at()));
  pipec_package_free(opened);
  options.allow_external_count = 2;
  EXPECT_C_ERROR(
      pipec_package_open_with(path.c_str(), &options, &opened, error.at()),
      PIPEC_INVALID_ARGUMENT, "a folder's path is NULL");
}

TEST_F(CApi, RunsWithTheBitsOfTheCppInterface) {
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = float(i) * 0.25f - 1;
  pipec_session *session = createSession();
  pipec_package_free(package); // the session keeps what it needs
  package = nullptr;
  pipec_tensor input = x.view();
  pipec_tensors *outputs = nullptr;
  ASSERT_C_OK(pipec_session_run(session, &input, 1, 0, &outputs, error.at()));
  pipec_session_free(session);

  auto opened = Package::open(path);
  ASSERT_TRUE(opened.ok());
  auto reference = Session::create(*opened, {});
  ASSERT_TRUE(reference.ok());
  auto expected = (*reference)->run({{"x", f32({4, 4}, x.data)}}, {});
  ASSERT_TRUE(expected.ok()) << expected.status().message();

  ASSERT_EQ(pipec_tensors_count(outputs), 1u);
  pipec_tensor y = {};
  ASSERT_C_OK(pipec_tensors_find(outputs, "y", &y, error.at()));
  const Tensor &same = expected->at("y");
  EXPECT_EQ(y.dtype, PIPEC_F32);
  ASSERT_EQ(std::vector<int64_t>(y.shape, y.shape + y.rank), same.shape());
  EXPECT_EQ(std::memcmp(y.data, same.data(), same.byteSize()), 0);
  EXPECT_C_ERROR(pipec_tensors_get(outputs, 1, &y, error.at()),
                 PIPEC_INVALID_ARGUMENT, "no tensor 1");
  EXPECT_C_ERROR(pipec_tensors_find(outputs, "z", &y, error.at()),
                 PIPEC_INVALID_ARGUMENT, "'z'");
  pipec_tensors_free(outputs);
}

TEST_F(CApi, RefusesNullAndWrongObjects) {
  pipec_session *session = createSession();
  pipec_tensors *outputs = nullptr;
  pipec_tensor tensor = x.view();
  auto *wrong = reinterpret_cast<pipec_session *>(package);
  auto expectNull = [&](pipec_status status) {
    EXPECT_EQ(status, PIPEC_INVALID_ARGUMENT);
    EXPECT_NE(error.text().find("is NULL"), std::string::npos) << error.text();
  };
  expectNull(pipec_package_open(nullptr, &package, error.at()));
  expectNull(pipec_package_open("m", nullptr, error.at()));
  expectNull(pipec_session_create(nullptr, nullptr, &session, error.at()));
  expectNull(pipec_session_create(package, nullptr, nullptr, error.at()));
  expectNull(pipec_session_run(nullptr, &tensor, 1, 0, &outputs, error.at()));
  expectNull(pipec_session_run(session, &tensor, 1, 0, nullptr, error.at()));
  expectNull(pipec_package_input(package, 0, 0, nullptr, error.at()));
  expectNull(pipec_tensors_get(nullptr, 0, &tensor, error.at()));
  expectNull(pipec_tensors_find(nullptr, "y", &tensor, error.at()));
  EXPECT_C_ERROR(pipec_session_run(wrong, &tensor, 1, 0, &outputs, error.at()),
                 PIPEC_INVALID_ARGUMENT, "another kind");
  EXPECT_C_ERROR(
      pipec_session_run(session, nullptr, 1, 0, &outputs, error.at()),
      PIPEC_INVALID_ARGUMENT, "tensors are NULL");
  EXPECT_EQ(outputs, nullptr);
  EXPECT_EQ(pipec_package_stage_count(nullptr), 0u);
  EXPECT_EQ(pipec_tensors_count(nullptr), 0u);
  pipec_session_free(wrong); // left alone
  EXPECT_EQ(pipec_package_stage_count(package), 2u);
  pipec_session_free(nullptr);
  pipec_session_free(session);
}

TEST_F(CApi, RefusesWhatIsReserved) {
  pipec_session_options options = {};
  pipec_session_options_init(&options, sizeof options);
  options.reserved = 1;
  pipec_session *session = nullptr;
  EXPECT_C_ERROR(pipec_session_create(package, &options, &session, error.at()),
                 PIPEC_INVALID_ARGUMENT, "reserved");
}

TEST_F(CApi, RefusesFlagsThatAreNeitherYesNorNo) {
  for (auto flag : {&pipec_session_options::reference_kernels,
                    &pipec_session_options::check_numerics}) {
    pipec_session_options options = {};
    pipec_session_options_init(&options, sizeof options);
    options.*flag = 7;
    pipec_session *session = nullptr;
    EXPECT_C_ERROR(
        pipec_session_create(package, &options, &session, error.at()),
        PIPEC_INVALID_ARGUMENT, "is 7, expected 0 or 1");
  }
}

TEST_F(CApi, RefusesMalformedTensors) {
  pipec_session *session = createSession();
  pipec_tensors *outputs = nullptr;
  auto run = [&](const std::vector<pipec_tensor> &inputs) {
    return pipec_session_run(session, inputs.data(), inputs.size(), 0, &outputs,
                             error.at());
  };
  auto expectError = [&](pipec_tensor tensor, const char *part) {
    EXPECT_C_ERROR(run({tensor}), PIPEC_INVALID_ARGUMENT, part);
  };
  pipec_tensor good = x.view(), bad = good;
  bad.name = nullptr;
  expectError(bad, "name is NULL");
  bad = good;
  bad.dtype = 99;
  expectError(bad, "no dtype");
  bad = good;
  bad.rank = -1;
  expectError(bad, "rank -1");
  bad = good;
  bad.shape = nullptr;
  expectError(bad, "shape is NULL");
  bad = good;
  bad.data = nullptr;
  expectError(bad, "data is NULL");
  bad = good;
  bad.data = reinterpret_cast<char *>(x.data.data()) + 1;
  expectError(bad, "not aligned");
  const int64_t huge[2] = {int64_t(1) << 40, int64_t(1) << 40};
  bad = good;
  bad.shape = huge;
  expectError(bad, "tensor 'x'");
  bad = good;
  bad.name = "z";
  expectError(bad, "'x'");
  EXPECT_C_ERROR(run({good, good}), PIPEC_INVALID_ARGUMENT, "twice");
  EXPECT_EQ(run({good}), PIPEC_OK) << error.text();
  pipec_tensors_free(outputs);
  pipec_session_free(session);
}

TEST_F(CApi, OptionsAgreeAcrossVersions) {
  struct {
    pipec_session_options known;
    int64_t newer;
  } options = {};
  pipec_session *session = nullptr;
  auto *given = &options.known;
  EXPECT_C_ERROR(pipec_session_create(package, given, &session, error.at()),
                 PIPEC_INVALID_ARGUMENT, "size is not set");
  pipec_session_options_init(given, sizeof options);
  EXPECT_EQ(given->queue_capacity, 2);
  EXPECT_EQ(options.newer, 0);
  ASSERT_C_OK(pipec_session_create(package, given, &session, error.at()));
  pipec_session_free(session);
  session = nullptr;
  options.newer = 1;
  EXPECT_C_ERROR(pipec_session_create(package, given, &session, error.at()),
                 PIPEC_UNSUPPORTED, "does not have");
  // An older caller has the memory limit alone; what lies behind is not his.
  pipec_session_options_init(given, sizeof *given);
  given->size = offsetof(pipec_session_options, queue_capacity);
  given->queue_capacity = -5;
  given->memory_limit = 1;
  EXPECT_C_ERROR(pipec_session_create(package, given, &session, error.at()),
                 PIPEC_RESOURCE_EXHAUSTED, "limit");
  given->memory_limit = 0;
  ASSERT_C_OK(pipec_session_create(package, given, &session, error.at()));
  pipec_session_free(session);
}

TEST_F(CApi, ErrorsBelongToTheCallAndAreOptional) {
  EXPECT_EQ(pipec_package_open("/nowhere", &package, nullptr), PIPEC_IO);
  auto openMany = [&](const std::string &name) {
    for (int i = 0; i < 50; ++i) {
      CError own;
      pipec_package *none = nullptr;
      EXPECT_EQ(pipec_package_open(name.c_str(), &none, own.at()), PIPEC_IO);
      EXPECT_NE(own.text().find(name), std::string::npos) << own.text();
    }
  };
  std::thread other(openMany, "/nowhere/a");
  openMany("/nowhere/b");
  other.join();
}

} // namespace
