// Ops: how origins read, typed attributes.
#include "runtime/base/op.h"

#include <gtest/gtest.h>

using namespace pipec;

namespace {

TEST(OpTest, OriginText) {
  EXPECT_EQ((Origin{"fc2", "node_log", "Log", "model.py", 12, 3}.str()),
            "Log node_log (fc2, model.py:12)");
  EXPECT_EQ((Origin{"", "node_log", "Log", "", 0, -1}.str()), "Log node_log");
  EXPECT_EQ((Origin{"fc2", "", "Log", "", 0, -1}.str()), "Log (fc2)");
  EXPECT_EQ((Origin{"", "", "", "model.py", 0, -1}.str()), "model.py");
  EXPECT_EQ(Origin().str(), "");
}

TEST(OpTest, AttributesByType) {
  OpDesc op;
  op.name = "reduce";
  op.attrs["dim"] = int64_t(3);
  op.attrs["kind"] = std::string("sum");
  EXPECT_EQ(*op.get<int64_t>("dim"), 3);
  EXPECT_EQ(op.getOr<int64_t>("other", 5), 5);
  EXPECT_EQ(op.get<bool>("dim").status().message(),
            "reduce: attribute 'dim' has another type");
  EXPECT_EQ(op.get<bool>("keep").status().message(),
            "reduce: attribute 'keep' is missing");
}

} // namespace
