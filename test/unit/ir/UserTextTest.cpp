// Diagnostics without the IR's own terms.
#include "ir/UserText.h"

#include <gtest/gtest.h>

using pipec::pipe::userText;

TEST(UserText, OpsAreLeftOut) {
  EXPECT_EQ(userText("'pipe.concat' op dim 3 is out of range for rank 2"),
            "dim 3 is out of range for rank 2");
  EXPECT_EQ(userText("expected one 'pipe.graph', got 2"),
            "expected one 'graph', got 2");
  EXPECT_EQ(userText("must be read by a pipe.stage alone"),
            "must be read by a stage alone");
}

TEST(UserText, TypesReadAsElsewhere) {
  EXPECT_EQ(userText("got 'tensor<2x3xf32>' and tensor<i1>, tensor<0xui8>"),
            "got 'f32[2x3]' and bool[], u8[0]");
}

TEST(UserText, ConstraintsAreListsOfTypes) {
  EXPECT_EQ(userText("'pipe.gather' op operand #1 must be statically shaped "
                     "tensor of 32-bit signless integer or 64-bit signless "
                     "integer values, but got 'tensor<2xf32>'"),
            "operand #1 must be i32 or i64, but got 'f32[2]'");
  EXPECT_EQ(userText("statically shaped tensor of 16-bit float or bfloat16 "
                     "type or 8-bit unsigned integer or bool values"),
            "f16 or bf16 or u8 or bool");
}

TEST(UserText, NamesOfTheModelStay) {
  for (const char *name :
       {"", "my.pipe.layer", "tensor", "tensor<weird>", "'pipe.", "pipe.",
        "node 'pipeline'", "tensor<2xf32"})
    EXPECT_EQ(userText(name), name);
}
