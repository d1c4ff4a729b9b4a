// Which numbered modules of two models are the same.
#include "tools/analyze/compare/match/layer_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace memoir {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<AlignedModule> Layers(const std::vector<std::string>& classes, const std::string& shapes = "") {
  std::vector<AlignedModule> modules;
  for (std::size_t i = 0; i < classes.size(); ++i)
    modules.push_back({"Net", "body." + std::to_string(i), classes[i], shapes});
  return modules;
}

TEST(LayerAlignment, AnInsertedModuleMovesThoseBehindIt) {
  const LayerAlignment alignment(Layers({"Linear", "ReLU", "Linear"}), Layers({"Linear", "ReLU", "Norm", "Linear"}));
  EXPECT_EQ(alignment.PlaceInB("Net", "body.1"), "body.1");
  EXPECT_EQ(alignment.PlaceInB("Net", "body.2"), "body.3");
  EXPECT_EQ(alignment.PlaceInB("Net", "body.2.inner"), "body.3.inner");
  EXPECT_EQ(alignment.PlaceInB("Other", "body.2"), "body.2");
  EXPECT_THAT(alignment.counts(), IsEmpty());
}

TEST(LayerAlignment, ARemovedModuleKeepsNoNumberOfAnother) {
  const LayerAlignment alignment(Layers({"Linear", "Norm", "ReLU", "Linear"}), Layers({"Linear", "ReLU", "Linear"}));
  EXPECT_EQ(alignment.PlaceInB("Net", "body.1"), "body.1(A)");
  EXPECT_EQ(alignment.PlaceInB("Net", "body.2"), "body.1");
  EXPECT_EQ(alignment.PlaceInB("Net", "body.3"), "body.2");
}

TEST(LayerAlignment, OfAlikeLayersTheNumberAloneIsKnown) {
  const LayerAlignment alignment(Layers({"Block", "Block"}), Layers({"Block", "Block", "Block"}));
  ASSERT_THAT(alignment.counts(), SizeIs(1));
  EXPECT_EQ(alignment.counts()[0].place, "body");
  EXPECT_EQ(alignment.counts()[0].a, 2u);
  EXPECT_EQ(alignment.counts()[0].b, 3u);
  EXPECT_TRUE(alignment.counts()[0].Has("Net", "body.2.fc"));
  EXPECT_FALSE(alignment.counts()[0].Has("Net", "body.20"));
}

TEST(LayerAlignment, AlikePlacesAreOne) {
  const std::vector<LayerCount> counts = {{"layers.0.experts", 4, 8, "Net", {}},
                                          {"layers.1.experts", 4, 8, "Net", {}},
                                          {"layers.2.experts", 4, 6, "Net", {}}};
  const std::vector<LayerCount> merged = WithPlacesMerged(counts);
  ASSERT_THAT(merged, SizeIs(2));
  EXPECT_EQ(merged[0].place, "layers.*.experts");
  EXPECT_EQ(merged[1].place, "layers.2.experts");
}

TEST(LayerAlignment, ShapesTellLayersApart) {
  std::vector<AlignedModule> a = Layers({"Linear", "Linear"}), b = Layers({"Linear", "Linear", "Linear"});
  a[0].shapes = b[0].shapes = "[8, 4]";
  b[1].shapes = "[8, 8]";
  a[1].shapes = b[2].shapes = "[4, 8]";
  const LayerAlignment alignment(a, b);
  EXPECT_EQ(alignment.PlaceInB("Net", "body.1"), "body.2");
  EXPECT_THAT(alignment.counts(), IsEmpty());
}

// If both programs have the same number of layers, layers match by number, even if their classes differ.
TEST(LayerAlignment, AsManyKeepTheirNumbers) {
  const LayerAlignment alignment(Layers({"Linear", "ReLU"}), Layers({"ReLU", "Linear"}));
  EXPECT_EQ(alignment.PlaceInB("Net", "body.0"), "body.0");
  EXPECT_EQ(alignment.PlaceInB("Net", "body.1"), "body.1");
}

}  // namespace
}  // namespace memoir
