// Shapes that depended on unknown values are counted by operator, and said in one line.
#include "simcuda/kernels/unknown_shapes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// One test: what is counted is the process's.
TEST(UnknownShapes, AreCountedAndSaid) {
  EXPECT_EQ(UnknownShapesLine(false), "");
  CountUnknownShape("aten::bincount");
  EXPECT_THAT(UnknownShapesLine(false), HasSubstr("1 shape depended on values"));
  CountUnknownShape("aten::nonzero");
  CountUnknownShape("aten::nonzero");
  EXPECT_THAT(UnknownShapes(), UnorderedElementsAre(Pair(1u, "aten::bincount"), Pair(2u, "aten::nonzero")));
  const std::string least = UnknownShapesLine(false), most = UnknownShapesLine(true);
  EXPECT_THAT(least, HasSubstr("3 shapes depended on values that the simulated GPU did not compute (aten::nonzero 2, "
                               "aten::bincount 1)"));
  EXPECT_THAT(least, HasSubstr("smallest possible (--sim-unknown least)"));
  EXPECT_THAT(most, HasSubstr("largest possible (--sim-unknown most)"));
  EXPECT_EQ(least.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace memoir::simcuda
