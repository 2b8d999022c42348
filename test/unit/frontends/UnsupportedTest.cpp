// Operators without an importer: the list, the places, the advice of each kind.
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

using namespace pipec::onnx::testing;

namespace {

/// The message for a chain of these operators, "domain::Op" or "Op".
std::string refusal(const std::vector<std::string> &ops, int64_t opset = 18) {
  ModelBuilder builder(opset);
  builder.input("x", {"4"});
  std::string last = "x";
  for (const std::string &op : ops) {
    const size_t colon = op.find("::");
    auto *node =
        builder.node(colon == std::string::npos ? op : op.substr(colon + 2),
                     {last}, {last + "_"});
    if (colon != std::string::npos)
      node->set_domain(op.substr(0, colon));
    last += "_";
  }
  builder.output(last, {"4"});
  ScratchFolder folder;
  Imported imported = importFile(folder.write("m.onnx", builder.bytes()));
  EXPECT_FALSE(imported.ok());
  return imported.message();
}

void expectAdvice(const std::string &op, const std::string &advice) {
  const std::string message = refusal({op});
  EXPECT_NE(message.find(op + " (1 node, 'node_x_')"), std::string::npos)
      << message;
  EXPECT_NE(message.find("\n  " + op + ": "), std::string::npos) << message;
  EXPECT_NE(message.find(advice), std::string::npos) << message;
}

TEST(Unsupported, EachKindHasItsAdvice) {
  expectAdvice("LSTM", "nn.LSTMCell");
  expectAdvice("Loop", "control flow");
  expectAdvice("SequenceMap", "Python loop of a fixed length");
  expectAdvice("OptionalGetElement", "the one case");
  expectAdvice("GridSample", "torch.gather");
  expectAdvice("NonMaxSuppression", "post-processing");
  expectAdvice("DeformConv", "image operators");
  expectAdvice("QLinearMatMul", "before quantisation");
  expectAdvice("StringConcat", "tokenise");
  expectAdvice("DFT", "cosines and sines");
  expectAdvice("RandomNormalLike", "pass them as an input");
  expectAdvice("Unique", "depends on data");
  expectAdvice("Det", "linear algebra");
  expectAdvice("com.microsoft::FusedMatMul", "ONNX Runtime");
  expectAdvice("ai.onnx.ml::TreeEnsemble", "classical machine learning");
  expectAdvice("ai.onnx.preview.training::Adam", "pipec train");
  expectAdvice("org.pytorch.aten::ATen", "ONNX_ATEN_FALLBACK");
  expectAdvice("pkg.onnxscript.torch_lib::f", "inline_local_functions");
  expectAdvice("my.domain::Fancy", "custom_translation_table");
  expectAdvice("NoSuchOperator", "write them in other operators");
}

TEST(Unsupported, AnOperatorOfANewerOpsetSaysWhich) {
  const std::string message = refusal({"RMSNormalization"}, 17);
  EXPECT_NE(message.find("export with opset_version=23 or newer"),
            std::string::npos)
      << message;
}

TEST(Unsupported, AllAreListedOnceAndTheirAdviceToo) {
  const std::string message = refusal({"GRU", "LSTM", "Relu", "LSTM", "Det"});
  EXPECT_NE(
      message.find("Det (1 node, 'node_x_____'), GRU (1 node, 'node_x_'), "
                   "LSTM (2 nodes, first 'node_x__')\n"),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("\n  Det: "), std::string::npos) << message;
  EXPECT_NE(message.find("\n  GRU, LSTM: "), std::string::npos) << message;
}

TEST(Unsupported, ThePlaceIsModuleAndSourceLine) {
  ModelBuilder builder;
  builder.input("x", {"4"});
  auto *node = builder.node("LSTM", {"x"}, {"y"});
  ModelBuilder::metadata(node, "pkg.torch.onnx.name_scopes",
                         "['', 'encoder', 'encoder.rnn', 'lstm']");
  ModelBuilder::metadata(node, "pkg.torch.onnx.stack_trace",
                         "File \"model.py\", line 12, in forward\n  y = x");
  builder.output("y", {"4"});
  ScratchFolder folder;
  Imported imported = importFile(folder.write("m.onnx", builder.bytes()));
  EXPECT_NE(imported.message().find("LSTM (1 node, 'node_y' in module "
                                    "encoder.rnn, model.py:12)"),
            std::string::npos)
      << imported.message();
}

/// A Resize of [1, 1, 4, 4] by `scale`, with a string attribute.
std::string resizeRefusal(float scale, const std::string &mode,
                          const std::string &name = "",
                          const std::string &value = "") {
  ModelBuilder builder;
  builder.input("x", {"1", "1", "4", "4"});
  builder.floats("scales", {4}, {1, 1, scale, scale});
  auto *node = builder.node("Resize", {"x", "", "scales"}, {"y"});
  auto text = [&](const std::string &key, const std::string &given) {
    auto *made = node->add_attribute();
    made->set_name(key);
    made->set_type(::onnx::AttributeProto::STRING);
    made->set_s(given);
  };
  text("mode", mode);
  if (name == "antialias")
    ModelBuilder::attribute(node, name, 1);
  else if (!name.empty())
    text(name, value);
  builder.output("y");
  ScratchFolder folder;
  return importFile(folder.write("m.onnx", builder.bytes())).message();
}

TEST(Unsupported, ResizeNamesTheAttributeAtFault) {
  EXPECT_EQ(resizeRefusal(0.5, "linear"), "");
  EXPECT_NE(resizeRefusal(0.5, "linear", "antialias").find("antialias is not"),
            std::string::npos);
  // Only what shrinks is filtered.
  EXPECT_EQ(resizeRefusal(2, "linear", "antialias"), "");
  EXPECT_NE(resizeRefusal(2, "cubic", "antialias"), "");
  EXPECT_NE(resizeRefusal(2, "linear", "coordinate_transformation_mode",
                          "tf_crop_and_resize")
                .find("'tf_crop_and_resize' is not supported: slice"),
            std::string::npos);
  EXPECT_NE(resizeRefusal(2, "wild").find("): mode 'wild' is unknown"),
            std::string::npos);
  EXPECT_NE(resizeRefusal(2, "linear", "nearest_mode", "wild")
                .find("nearest_mode 'wild' is unknown"),
            std::string::npos);
  EXPECT_NE(resizeRefusal(2, "linear", "keep_aspect_ratio_policy", "wild")
                .find("keep_aspect_ratio_policy 'wild' is unknown"),
            std::string::npos);
}

} // namespace
