// Cutting of batches: sizes as torch.tensor_split, the choice of the number of
// pieces.
#include "runtime/executor/batch_plan.h"
#include "test/unit/runtime/TestSession.h"

namespace pipec::test {
namespace {

Package::Impl packageWithRows(std::vector<int64_t> rows) {
  Package::Impl package;
  package.microbatchRows = std::move(rows);
  InputInfo input;
  input.name = "x";
  for (int64_t r : package.microbatchRows)
    input.types.push_back({DType::F32, {r, 2}});
  package.inputs.push_back(input);
  return package;
}

std::vector<int64_t> firstRows(int64_t rows, int64_t m,
                               std::vector<int64_t> compiled) {
  Package::Impl package = packageWithRows(std::move(compiled));
  auto plan = planBatch(package, {{"x", pattern({rows, 2}, 1)}}, m);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  std::vector<int64_t> result;
  if (plan.ok())
    for (const Microbatch &piece : plan->microbatches)
      result.push_back(piece.firstRow);
  return result;
}

TEST(BatchPlanTest, CutsAsTensorSplit) {
  EXPECT_EQ(firstRows(10, 4, {3, 2}), (std::vector<int64_t>{0, 3, 6, 8}));
  EXPECT_EQ(firstRows(10, 5, {3, 2}), (std::vector<int64_t>{0, 2, 4, 6, 8}));
  EXPECT_EQ(firstRows(4, 1, {4}), (std::vector<int64_t>{0}));
}

TEST(BatchPlanTest, VariantFollowsTheSize) {
  Package::Impl package = packageWithRows({2, 3});
  auto plan = planBatch(package, {{"x", pattern({5, 2}, 1)}}, 2);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->microbatches[0].variant, 1u);
  EXPECT_EQ(plan->microbatches[1].variant, 0u);
}

TEST(BatchPlanTest, ChoosesTheNumberOfPieces) {
  EXPECT_EQ(chooseMicrobatches(8, {2}), 4);
  EXPECT_EQ(chooseMicrobatches(2, {2}), 1);
  EXPECT_EQ(chooseMicrobatches(7, {2}), 0);
  EXPECT_EQ(chooseMicrobatches(1, {2}), 0);
  EXPECT_EQ(chooseMicrobatches(10, {3, 2}), 4) << "both sizes are used";
  EXPECT_EQ(chooseMicrobatches(10, {2, 3}), 4);
  EXPECT_EQ(chooseMicrobatches(6, {2, 3}), 2)
      << "3 + 3 is shorter than 2 + 2 + 2";
  EXPECT_EQ(chooseMicrobatches(1, {3, 2}), 0);
  EXPECT_EQ(chooseMicrobatches(11, {4, 7}), 0);
}

TEST(BatchPlanTest, ChoiceAgreesWithBruteForce) {
  for (int64_t rows = 1; rows <= 40; ++rows)
    for (int64_t a = 1; a <= 8; ++a) {
      const int64_t m = chooseMicrobatches(rows, {a, a + 1});
      bool possible = false;
      for (int64_t k = 1; k <= rows; ++k)
        possible |= (rows / k == a) || (rows % k == 0 && rows / k == a + 1);
      EXPECT_EQ(m != 0, possible)
          << rows << " rows, sizes " << a << ", " << a + 1;
      if (m != 0) {
        EXPECT_TRUE(rows / m == a || (rows % m == 0 && rows / m == a + 1));
      }
    }
}

TEST(BatchPlanTest, SizesThatAreNotCompiled) {
  Package::Impl package = packageWithRows({4});
  auto plan = planBatch(package, {{"x", pattern({10, 2}, 1)}}, 4);
  expectError(plan.status(), StatusCode::InvalidArgument,
              "10 rows in 4 microbatches have 2 and 3 rows each");
  expectError(plan.status(), StatusCode::InvalidArgument,
              "compile the model again for batches of 10 rows (--bind) and "
              "--microbatches 4");
  expectError(planBatch(package, {{"x", pattern({10, 2}, 1)}}, 0).status(),
              StatusCode::InvalidArgument, "compiled for (4)");
  expectError(planBatch(package, {{"x", pattern({4, 2}, 1)}}, 5).status(),
              StatusCode::InvalidArgument, "into 5 microbatches");
  expectError(planBatch(package, {{"x", pattern({0, 2}, 1)}}, 0).status(),
              StatusCode::InvalidArgument, "0 rows");
  expectError(planBatch(package, {{"x", pattern({4, 2}, 1)}}, -1).status(),
              StatusCode::InvalidArgument, "-1 microbatches");
}

TEST(BatchPlanTest, NothingIsCut) {
  Package::Impl package = packageWithRows({0});
  package.inputs[0].types[0] = {DType::F32, {4, 2}};
  const TensorMap inputs = {{"x", pattern({4, 2}, 1)}};
  EXPECT_TRUE(planBatch(package, inputs, 0).ok());
  EXPECT_TRUE(planBatch(package, inputs, 1).ok());
  expectError(planBatch(package, inputs, 2).status(),
              StatusCode::InvalidArgument,
              "2 microbatches, but no input is cut");
}

} // namespace
} // namespace pipec::test
