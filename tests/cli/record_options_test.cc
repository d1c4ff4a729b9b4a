#include "tools/cli/attach/record_options.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/memoir/byte_size.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const RecordOption& Option(std::string_view variable) {
  for (const RecordOption& option : RecordOptions()) {
    if (variable == option.variable) return option;
  }
  ADD_FAILURE() << variable;
  return RecordOptions().front();
}

TEST(ParseSize, Units) {
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("512MiB"), 512ull << 20);
  EXPECT_EQ(ParseSize("2G"), 2ull << 30);
  EXPECT_EQ(ParseSize("7B"), 7u);
  EXPECT_EQ(ParseSize("3MB"), 3'000'000u);
  EXPECT_EQ(ParseSize("16777215TiB"), 16'777'215ull << 40);
}

TEST(ParseSize, Fractions) {
  EXPECT_EQ(ParseSize("1.5GiB"), 3ull << 29);
  EXPECT_EQ(ParseSize("2.4GiB"), 2'576'980'377u);
  EXPECT_EQ(ParseSize("0.25K"), 256u);
  EXPECT_EQ(ParseSize("2.50MB"), 2'500'000u);
  EXPECT_EQ(ParseSize("1.0000000000000000000001KiB"), 1024u);
}

TEST(ParseSize, NoSizes) {
  for (const char* text : {"", "MiB", "-1", "+1", "12 MiB", "MiB ", "5XB", "iB", "kB", "0x1", "1.5", "1.5B", "1.GiB",
                           ".5GiB", "1.5.5GiB", "1,5GiB", "1e3", "99999999999999999999", "17179869185GiB",
                           "16777216TiB"}) {
    EXPECT_FALSE(ParseSize(text)) << text;
  }
}

TEST(NormalizeOption, ValuesForTheRecorder) {
  EXPECT_EQ(*NormalizeOption(Option("MEMOIR_MAX_SIZE"), "--max-size", "1KiB"), "1024");
  EXPECT_EQ(*NormalizeOption(Option("MEMOIR_QUIET"), "--quiet", "on"), "1");
  EXPECT_EQ(*NormalizeOption(Option("MEMOIR_MODULES"), "--modules", "off"), "0");
  EXPECT_FALSE(NormalizeOption(Option("MEMOIR_MODULES"), "--modules", "maybe").ok());
  EXPECT_EQ(*NormalizeOption(Option("MEMOIR_OUTPUT"), "--output", "/a/b"), "/a/b");
  EXPECT_EQ(NormalizeOption(Option("MEMOIR_OUTPUT"), "--output", "b")->front(), '/');
}

TEST(NormalizeOption, ErrorsNameTheSource) {
  const auto size = NormalizeOption(Option("MEMOIR_RING_SIZE"), "MEMOIR_RING_SIZE", "big");
  EXPECT_THAT(std::string(size.status().message()), HasSubstr("MEMOIR_RING_SIZE=big: expected a size such as 512MiB"));
  EXPECT_FALSE(NormalizeOption(Option("MEMOIR_RANK"), "--rank", "-1").ok());
  EXPECT_FALSE(NormalizeOption(Option("MEMOIR_OUTPUT"), "--output", "").ok());
}

TEST(UnknownVariables, NamesTheNearest) {
  const std::vector<std::string> environment = {"MEMOIR_OUTPUT=x", "MEMOIR_MAXSIZE=1", "HOME=/", "MEMOIR_XYZZY="};
  EXPECT_THAT(UnknownVariables(environment),
              ElementsAre("unknown variable MEMOIR_MAXSIZE is ignored; did you mean MEMOIR_MAX_SIZE?",
                          "unknown variable MEMOIR_XYZZY is ignored"));
}

}  // namespace
}  // namespace memoir
