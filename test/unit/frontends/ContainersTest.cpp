// Containers that nodes of the TorchScript-based exporter do not name.
#include "frontends/onnx/metadata/Metadata.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

struct Read {
  std::string path, name; // of one node; name "": it reads no initializer
};

std::vector<std::string> restore(const std::vector<Read> &nodes) {
  std::vector<std::string> paths;
  std::vector<std::vector<std::string>> reads;
  for (const Read &node : nodes) {
    paths.push_back(node.path);
    reads.push_back({});
    if (!node.name.empty())
      reads.back().push_back(node.name);
  }
  restoreContainers(paths, reads);
  return paths;
}

using Paths = std::vector<std::string>;

TEST(Containers, ModuleDictAtTheRoot) {
  EXPECT_EQ(
      restore({{"", ""},
               {"wte", "transformer.wte.weight"},
               {"h.0.ln", "transformer.h.0.ln.weight"},
               {"h.0.qkv", "onnx::MatMul_1"},
               {"h.0", ""},
               {"lm_head", "onnx::MatMul_2"},
               {"decoder.attn", "decoder.attn.bias"}}),
      (Paths{"", "transformer.wte", "transformer.h.0.ln", "transformer.h.0.qkv",
             "transformer.h.0", "lm_head", "decoder.attn"}));
}

TEST(Containers, NestedAndBelowACalledModule) {
  EXPECT_EQ(restore({{"a.fc", "outer.inner.a.fc.bias"},
                     {"c", "outer.c.weight"},
                     {"encoder.a.fc", "encoder.blocks.a.fc.bias"},
                     {"encoder.a", ""},
                     {"encoder.n", "encoder.n.weight"},
                     {"encoder", ""}}),
            (Paths{"outer.inner.a.fc", "outer.c", "encoder.blocks.a.fc",
                   "encoder.blocks.a", "encoder.n", "encoder"}));
}

TEST(Containers, NumberedPathsOfAListOfDicts) {
  EXPECT_EQ(restore({{"p.fc", "onnx::MatMul_1"},
                     {"p.fc", "layers.0.p.fc.bias"},
                     {"p", ""},
                     {"q", "layers.0.q.bias"},
                     {"p.fc_1", "layers.1.p.fc.bias"},
                     {"p_1", ""},
                     {"q_1", "layers.1.q.bias"}}),
            (Paths{"layers.0.p.fc", "layers.0.p.fc", "layers.0.p", "layers.0.q",
                   "layers.1.p.fc", "layers.1.p", "layers.1.q"}));
}

/// A wrapper around a model whose `model` is called past (OPT's).
TEST(Containers, TheInnerOfTwoNamesThatAreAlike) {
  EXPECT_EQ(restore({{"model.decoder.l", "model.model.decoder.l.weight"},
                     {"model.decoder", ""},
                     {"model.head", "model.head.weight"},
                     {"model", ""}}),
            (Paths{"model.model.decoder.l", "model.model.decoder", "model.head",
                   "model"}));
}

TEST(Containers, SecondCallIsTheSameModule) {
  EXPECT_EQ(restore({{"l", "onnx::MatMul_1"},
                     {"l_1", "onnx::MatMul_1"},
                     {"fc", "fc.bias"},
                     {"fc_1", "fc.bias"},
                     {"ln", "ln.weight"},
                     {"ln_1", "ln_1.weight"},
                     {"m", "onnx::MatMul_2"},
                     {"m_1", "onnx::MatMul_3"}}),
            (Paths{"l", "l", "fc", "fc", "ln", "ln_1", "m", "m_1"}));
}

TEST(Containers, WeightOfAnotherModuleShowsNothing) {
  // `encoder` is called, so that it is left out of no path.
  EXPECT_EQ(restore({{"encoder.embed", "encoder.embed.weight"},
                     {"embed", "encoder.embed.weight"},
                     {"lm_head", "encoder.embed.weight"},
                     {"attn", "attn.attn.bias"}}),
            (Paths{"encoder.embed", "embed", "lm_head", "attn"}));
}

TEST(Containers, PathsThatContradictStay) {
  EXPECT_EQ(restore({{"a", "x.a.weight"}, {"a", "y.a.weight"}}),
            (Paths{"a", "a"}));
}

} // namespace
} // namespace pipec::onnx
