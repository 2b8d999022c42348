// Corrupt packages: each change gives one clean error that names the file and
// what is wrong with it. The table lists changes to a package that is else
// sound.
#include "test/unit/runtime/TestSession.h"

#include <filesystem>
#include <fstream>
#include <functional>

namespace pipec::test {
namespace {

struct Corruption {
  const char *name;
  std::function<void(PackageBuilder &)> change;
  const char *message;
};

/// Value indices of stage 0 of the two-stage MLP: 0 x, 1 fc0.weight, 2 dot0,
/// 3 fc0.bias, 4 sum0, 5 act0, 6 fc1.weight, 7 dot1, 8 fc1.bias, 9 sum1, 10
/// act1.
schema::Program &p(PackageBuilder &b) { return b.program(0); }
schema::Value &value(PackageBuilder &b, int i) {
  return *p(b).mutable_values(i);
}
schema::Instruction &instruction(PackageBuilder &b, int i) {
  return *p(b).mutable_instructions(i);
}
schema::Manifest &m(PackageBuilder &b) { return b.manifest; }

using B = PackageBuilder &;
const Corruption corruptions[] = {
    // manifest
    {"NoVariants", [](B b) { m(b).clear_variants(); }, "no variants"},
    {"NegativeRows",
     [](B b) { m(b).mutable_variants(0)->set_microbatch_rows(-1); },
     "variant of -1 rows"},
    {"TwoVariantsOfOneSize",
     [](B b) { m(b).mutable_variants(1)->set_microbatch_rows(2); },
     "two variants of 2 rows"},
    {"UncutBesideCut",
     [](B b) { m(b).mutable_variants(1)->set_microbatch_rows(0); },
     "beside others"},
    {"RowsUnlikeTheTypes",
     [](B b) { m(b).mutable_variants(0)->set_microbatch_rows(7); },
     "input 'x': f32[2x4] in the variant of 7 rows"},
    {"NoStages", [](B b) { m(b).clear_stages(); }, "no stages"},
    {"StageIndices", [](B b) { m(b).mutable_stages(1)->set_index(5); },
     "stages count from 0"},
    {"MissingFlops",
     [](B b) {
       m(b).mutable_stages(0)->clear_flops();
       m(b).mutable_stages(0)->add_flops(1);
     },
     "1 flops, expected 2"},
    {"TwoInputsOfOneName", [](B b) { *m(b).add_inputs() = m(b).inputs(0); },
     "the name is empty or taken"},
    {"InputWithoutName", [](B b) { m(b).mutable_inputs(0)->clear_name(); },
     "the name is empty or taken"},
    {"InputTypesMissing",
     [](B b) { m(b).mutable_inputs(0)->mutable_types()->RemoveLast(); },
     "1 types, expected 2"},
    {"UnknownDType",
     [](B b) { m(b).mutable_inputs(0)->mutable_types(0)->clear_dtype(); },
     "unknown dtype 0"},
    {"NegativeDimension",
     [](B b) { m(b).mutable_outputs(0)->mutable_types(0)->set_shape(1, -3); },
     "negative dimension"},
    {"SizeOverflows",
     [](B b) {
       auto *type = m(b).mutable_outputs(0)->mutable_types(0);
       for (int i = 0; i < 4; ++i)
         type->add_shape(INT64_MAX);
     },
     "2^62"},
    {"RankTooHigh",
     [](B b) {
       auto *type = m(b).mutable_outputs(0)->mutable_types(0);
       for (int i = 0; i < 40; ++i)
         type->add_shape(1);
     },
     "rank 42"},
    {"TwoOutputsOfOneName", [](B b) { *m(b).add_outputs() = m(b).outputs(0); },
     "output 'y': the name is empty or taken"},
    {"TwoWeightsOfOneName",
     [](B b) {
       *m(b).mutable_stages(0)->add_weights() = m(b).stages(0).weights(0);
     },
     "weight 'fc0.bias': the name is empty or taken"},
    {"TransferBackwards",
     [](B b) {
       m(b).mutable_transfers(0)->set_from(1);
       m(b).mutable_transfers(0)->set_to(0);
     },
     "to a later stage only"},
    {"TransferToItself", [](B b) { m(b).mutable_transfers(0)->set_from(1); },
     "to a later stage only"},
    {"TransferToNowhere", [](B b) { m(b).mutable_transfers(0)->set_to(9); },
     "there are 2 stages"},
    {"TransferTwice", [](B b) { *m(b).add_transfers() = m(b).transfers(0); },
     "listed twice"},
    {"TransferWithoutName",
     [](B b) { m(b).mutable_transfers(0)->clear_value(); },
     "the value has no name"},
    {"UnknownMerge",
     [](B b) { m(b).mutable_outputs(0)->set_merge(schema::Merge(17)); },
     "unknown merge 17"},
    // program: values
    {"ValueWithoutStorage", [](B b) { value(b, 2).clear_arena_offset(); },
     "value 2: has no storage"},
    {"OffsetUnaligned", [](B b) { value(b, 4).set_arena_offset(8); },
     "arena offset 8 is not a multiple of 64"},
    {"OffsetOutOfArena",
     [](B b) { value(b, 4).set_arena_offset(uint64_t(1) << 20); },
     "do not fit the arena"},
    {"OffsetOverflows",
     [](B b) { value(b, 4).set_arena_offset(UINT64_MAX - 63); },
     "do not fit the arena"},
    {"ArenaTooSmall", [](B b) { p(b).set_arena_bytes(64); },
     "do not fit the arena of 64"},
    {"ArenaAbsurd", [](B b) { p(b).set_arena_bytes(UINT64_MAX); },
     "arena of 18446744073709551615 bytes"},
    {"InputOutOfRange", [](B b) { value(b, 0).set_input(3); },
     "value 0: input 3 is out of range"},
    {"WeightOutOfRange", [](B b) { value(b, 1).set_weight(44); },
     "value 1: weight 44 is out of range"},
    {"WeightOfAnotherType",
     [](B b) { value(b, 1).mutable_type()->set_shape(0, 5); },
     "its storage holds f32[4x4]"},
    {"LiteralTooShort", [](B b) { value(b, 3).set_literal("abc"); },
     "literal of 3 bytes"},
    {"BadBoolLiteral",
     [](B b) {
       value(b, 3).mutable_type()->set_dtype(schema::BOOL);
       value(b, 3).set_literal(std::string("\1\0\2\1", 4));
     },
     "a bool literal holds neither 0 nor 1"},
    {"ValueOfUnknownDType",
     [](B b) { value(b, 2).mutable_type()->set_dtype(schema::DType(99)); },
     "value 2: unknown dtype 99"},
    // program: instructions
    {"OperandOutOfRange", [](B b) { instruction(b, 0).set_inputs(0, 1000); },
     "value 1000 is out of range"},
    {"ResultOutOfRange", [](B b) { instruction(b, 0).set_outputs(0, 1000); },
     "value 1000 is out of range"},
    {"ReadBeforeMade", [](B b) { instruction(b, 0).set_inputs(0, 9); },
     "reads value 9 before it is made"},
    {"ReadOfItsOwnResult", [](B b) { instruction(b, 0).set_inputs(0, 2); },
     "reads value 2 before it is made"},
    {"WritesAWeight", [](B b) { instruction(b, 0).set_outputs(0, 1); },
     "writes value 1, which is an input, weight or literal"},
    {"WritesAnInput", [](B b) { instruction(b, 0).set_outputs(0, 0); },
     "writes value 0, which is"},
    {"WritesTwice", [](B b) { instruction(b, 1).set_outputs(0, 2); },
     "writes value 2 a second time"},
    {"NoOp", [](B b) { instruction(b, 0).clear_op(); }, "has no op"},
    {"AttributeTwice",
     [](B b) {
       *instruction(b, 0).add_attributes() = instruction(b, 0).attributes(0);
     },
     "two attributes 'lhs_contract'"},
    {"AttributeWithoutValue",
     [](B b) { instruction(b, 0).add_attributes()->set_name("q"); },
     "attribute 'q' has no value"},
    {"AttributeOfUnknownDType",
     [](B b) {
       *instruction(b, 0).add_attributes() = dtypeAttr("q", DType(55));
     },
     "attribute 'q': unknown dtype 55"},
    // program: liveness
    {"OverlapOfOperandAndResult",
     [](B b) { value(b, 4).set_arena_offset(value(b, 2).arena_offset()); },
     "value 4, made by instruction 1, overlaps value 2"},
    {"OverlapWithAValueThatLeaves",
     [](B b) { value(b, 10).set_arena_offset(value(b, 5).arena_offset()); },
     "overlaps value 5, which is still needed"},
    {"PartialOverlap",
     [](B b) {
       // dot1 becomes [2x64], whose 512 bytes run into what follows.
       p(b).set_arena_bytes(4096);
       value(b, 7).mutable_type()->set_shape(1, 64);
       value(b, 7).set_arena_offset(0);
     },
     "overlaps value"},
    // program: borders
    {"InputFromNowhere", [](B b) { p(b).mutable_inputs(0)->clear_source(); },
     "input 0: comes from nowhere"},
    {"GraphInputOutOfRange",
     [](B b) { p(b).mutable_inputs(0)->set_graph_input(6); },
     "graph input 6 is out of range"},
    {"InputOfAnotherName", [](B b) { p(b).mutable_inputs(0)->set_name("q"); },
     "is named 'q', in the manifest 'x'"},
    {"InputOfAnotherType",
     [](B b) { p(b).mutable_inputs(0)->mutable_type()->set_shape(0, 9); },
     "is f32[9x4], in the manifest f32[2x4]"},
    {"InputTwice", [](B b) { *p(b).add_inputs() = p(b).inputs(0); },
     "the name 'x' is taken"},
    {"TransferToAnotherStage",
     [](B b) { p(b).mutable_inputs(0)->set_transfer(0); },
     "transfer 0 goes to stage 1"},
    {"InputTransferOutOfRange",
     [](B b) { p(b).mutable_inputs(0)->set_transfer(99); },
     "transfer 99 is out of range"},
    {"OutputToNowhere", [](B b) { p(b).mutable_outputs(0)->clear_target(); },
     "output 0: goes nowhere"},
    {"OutputValueOutOfRange",
     [](B b) { p(b).mutable_outputs(0)->set_value(77); },
     "value 77 is out of range"},
    {"OutputOfAnotherType", [](B b) { p(b).mutable_outputs(0)->set_value(1); },
     "is f32[4x4], in the manifest"},
    {"OutputTransferOutOfRange",
     [](B b) { p(b).mutable_outputs(0)->set_transfer(99); },
     "transfer 99 is out of range"},
    {"GraphOutputOutOfRange",
     [](B b) { p(b).mutable_outputs(0)->set_graph_output(99); },
     "graph output 99 is out of range"},
    {"TransferNeverSent", [](B b) { p(b).mutable_outputs()->RemoveLast(); },
     "never sends"},
    {"TransferSentTwice", [](B b) { *p(b).add_outputs() = p(b).outputs(0); },
     "sends the transfer of 'act0'"},
    {"TransferOfAnotherStage",
     [](B b) {
       auto *output = b.program(1).add_outputs();
       output->set_value(b.program(1).outputs(0).value());
       output->set_transfer(0);
     },
     "transfer 0 leaves stage 0"},
    {"TransferNeverReceived",
     [](B b) {
       m(b).add_transfers()->CopyFrom(m(b).transfers(0));
       m(b).mutable_transfers(2)->set_value("more");
       for (size_t v : {0, 1}) {
         schema::ProgramOutput output = b.program(0, v).outputs(0);
         output.set_transfer(2);
         *b.program(0, v).add_outputs() = output;
       }
     },
     "never receives"},
    {"OutputMadeTwice",
     [](B b) {
       for (size_t v : {0, 1}) {
         auto *output = b.program(0, v).add_outputs();
         output->set_value(10);
         output->set_graph_output(0);
       }
     },
     "both make the output 'y'"},
    {"OutputNeverMade",
     [](B b) {
       *m(b).add_outputs() = m(b).outputs(0);
       m(b).mutable_outputs(1)->set_name("z");
     },
     "no stage makes the output 'z'"},
    {"VariantsMakeOtherOutputs", [](B b) { b.program(1, 1).clear_outputs(); },
     "makes other outputs"},
    {"ProgramOfAnotherVariant",
     [](B b) { std::swap(b.program(0, 0), b.program(0, 1)); },
     "in the manifest f32[2x4]"},
};

void PrintTo(const Corruption &corruption, std::ostream *stream) {
  *stream << corruption.name;
}

struct CorruptionTest : ::testing::TestWithParam<Corruption> {};

TEST_P(CorruptionTest, IsRefused) {
  TempFolder folder;
  PackageBuilder builder(mlp(2, {2, 1}));
  GetParam().change(builder);
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  auto package = Package::open(folder / "m.pipe");
  ASSERT_FALSE(package.ok());
  expectError(package.status(), StatusCode::DataLoss, GetParam().message);
  EXPECT_EQ(package.status().message().rfind(folder / "m.pipe", 0), 0u)
      << package.status().message();
}

INSTANTIATE_TEST_SUITE_P(Table, CorruptionTest,
                         ::testing::ValuesIn(corruptions),
                         [](const auto &info) { return info.param.name; });

TEST(PackageCorruptionTest, TheTablesPackageIsSound) {
  TempFolder folder;
  ASSERT_TRUE(PackageBuilder(mlp(2, {2, 1})).write(folder / "m.pipe").ok());
  auto package = Package::open(folder / "m.pipe");
  EXPECT_TRUE(package.ok()) << package.status().message();
}

TEST(PackageCorruptionTest, FilesThatAreNotWhatTheyShouldBe) {
  const char *const contents[] = {
      "", "{", "null", "[]", "\xff\xfe", "{\"formatVersion\": \"x\"}"};
  for (const char *text : contents)
    for (const char *file : {"manifest.json", "stage0/program0.pb"}) {
      if (std::string(text).empty() &&
          std::string(file) == "stage0/program0.pb")
        continue; // an empty program parses; that its transfers lack shows
                  // later
      TempFolder folder;
      ASSERT_TRUE(PackageBuilder(mlp(2, {2})).write(folder / "m.pipe").ok());
      std::ofstream(folder / "m.pipe/" + file, std::ios::trunc) << text;
      Status status = Package::open(folder / "m.pipe").status();
      EXPECT_FALSE(status.ok()) << file << " \"" << text << "\"";
      EXPECT_NE(status.message().find(file), std::string::npos)
          << status.message();
    }
}

TEST(PackageCorruptionTest, DeeplyNestedJson) {
  TempFolder folder;
  ASSERT_TRUE(PackageBuilder(mlp(1, {2})).write(folder / "m.pipe").ok());
  std::string deep(100000, '[');
  std::ofstream(folder / "m.pipe/manifest.json", std::ios::trunc)
      << "{\"later\": " + deep;
  expectError(Package::open(folder / "m.pipe").status(), StatusCode::DataLoss,
              "manifest.json");
}

TEST(PackageCorruptionTest, TruncatedPrograms) {
  TempFolder folder;
  PackageBuilder builder(mlp(2, {2}));
  ASSERT_TRUE(builder.write(folder / "m.pipe").ok());
  const std::string bytes = builder.program(0).SerializeAsString();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    std::ofstream(folder / "m.pipe/stage0/program0.pb",
                  std::ios::binary | std::ios::trunc)
        << bytes.substr(0, size);
    Status status = Package::open(folder / "m.pipe").status();
    expectError(status, StatusCode::DataLoss, "stage0/program0.pb");
  }
}

TEST(PackageCorruptionTest, MissingProgram) {
  TempFolder folder;
  ASSERT_TRUE(PackageBuilder(mlp(2, {2})).write(folder / "m.pipe").ok());
  std::filesystem::remove(folder / "m.pipe/stage1/program0.pb");
  expectError(Package::open(folder / "m.pipe").status(), StatusCode::Io,
              "stage1/program0.pb");
}

} // namespace
} // namespace pipec::test
