#include "tools/view/terminal/terminal_text.h"

#include <string>

#include "gtest/gtest.h"

namespace memoir {
namespace {

TEST(Escaped, PrintableTextStays) {
  EXPECT_EQ(Escaped("aten::add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(Escaped("模型 é 🔥"), "模型 é 🔥");
}

TEST(Escaped, ControlBytes) {
  EXPECT_EQ(Escaped("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(Escaped("a\nb\tc\r"), "a\\nb\\tc\\x0d");
  EXPECT_EQ(Escaped(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(Escaped("\x7f"), "\\x7f");
  EXPECT_EQ(Escaped("\xC2\x9B"
                    "31m"),
            "\\u{9b}31m");  // C1 control sequence introducer
}

TEST(Escaped, ReorderingAndHiddenCharacters) {
  EXPECT_EQ(Escaped("\u202Eabc"), "\\u{202e}abc");
  EXPECT_EQ(Escaped("a\u200Bb"), "a\\u{200b}b");
  EXPECT_EQ(Escaped("\u2028"), "\\u{2028}");
}

TEST(Escaped, InvalidUtf8) {
  EXPECT_EQ(Escaped("\xff"), "\\xff");
  EXPECT_EQ(Escaped("\xE6\xA8"), "\\xe6\\xa8");           // cut
  EXPECT_EQ(Escaped("\xC0\xAF"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Escaped("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(Escaped("\xF5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(EscapedInJson, IsTheSameToAReaderAndShowsNothingElseOnATerminal) {
  EXPECT_EQ(EscapedInJson("{\"n\": \"\u6a21 \u00e9 \U0001F525\"}\n"), "{\"n\": \"\u6a21 \u00e9 \U0001F525\"}\n");
  EXPECT_EQ(EscapedInJson("\xC2\x85\xC2\x9B\x7f"), "\\u0085\\u009b\\u007f");
  EXPECT_EQ(EscapedInJson("\u202Eabc\u2066"), "\\u202eabc\\u2066");
  EXPECT_EQ(EscapedInJson("\U000E0041"), "\\udb40\\udc41");  // a tag, above U+FFFF
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("é"), 1u);
  EXPECT_EQ(DisplayWidth("模型"), 4u);
  EXPECT_EQ(DisplayWidth("🔥"), 2u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);  // combining accent
  EXPECT_EQ(DisplayWidth("█▁…"), 3u);
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(Shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(Shortened("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(Shortened("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(Shortened("abc", 1), "…");
  EXPECT_EQ(Shortened("abc", 0), "");
}

TEST(Shortened, NeverCutsACharacterOrExceedsTheWidth) {
  const std::string text = "模型a型é模🔥b型";
  for (std::size_t width = 0; width < 20; ++width) {
    const std::string cut = Shortened(text, width);
    EXPECT_LE(DisplayWidth(cut), width);
    EXPECT_EQ(Escaped(cut), cut) << width;  // still valid UTF-8
  }
}

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(Wrapped("one two three", 80, 4), "one two three");
  EXPECT_EQ(Wrapped("one two three", 11, 4), "one two\n    three");
  EXPECT_EQ(Wrapped("averylongword b", 8, 2), "averylongword\n  b");
  EXPECT_EQ(Wrapped("", 8, 2), "");
}

TEST(ShownName, SaysSomethingForNothing) {
  EXPECT_EQ(ShownName(""), "(unnamed)");
  EXPECT_EQ(ShownName("a\n"), "a\\n");
}

TEST(Padded, ByColumnsNotBytes) {
  EXPECT_EQ(PaddedRight("模", 4), "模  ");
  EXPECT_EQ(PaddedLeft("é", 3), "  é");
  EXPECT_EQ(PaddedLeft("long", 2), "long");
}

}  // namespace
}  // namespace memoir
