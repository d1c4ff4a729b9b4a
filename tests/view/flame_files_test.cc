// Names with the formats' special characters, which no sample has. Whole files of captures:
// tests/cli/test_export_flame.py.
#include "tools/view/flame/flame_files.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

FlameSamples OddNames() {
  FlameSamples samples;
  samples.frames = {{"main", "train;py", "train;py", 3}, {"say \"hi\";\n", "", "", 0}, {"none", "", "", 0}};
  samples.samples.push_back({{0, 1}, {.bytes_at_peak = 64, .allocated_bytes = 128}});
  samples.samples.push_back({{0, 2}, {.allocated_bytes = 32}});
  return samples;
}

TEST(FlameFiles, AStackIsOneLineAndOneMarkBetweenItsFrames) {
  EXPECT_EQ(CollapsedStacks(OddNames(), *FindFlameMeasure("peak")), "main (train,py:3);say \"hi\",\\n 64\n");
  EXPECT_EQ(CollapsedStacks(OddNames(), *FindFlameMeasure("allocated")),
            "main (train,py:3);say \"hi\",\\n 128\nmain (train,py:3);none 32\n");
}

TEST(FlameFiles, NamesOfJsonAreEscaped) {
  const std::string json = SpeedscopeJson(OddNames(), *FindFlameMeasure("peak"), "run \"1\"");
  EXPECT_NE(json.find(R"(say \"hi\";\n)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"(run \"1\")"), std::string::npos) << json;
}

}  // namespace
}  // namespace memoir
