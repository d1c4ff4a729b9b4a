// Runs bash to check that a word in a printed command is the same word after the command was pasted into a shell.
#include "tools/view/terminal/typed_word.h"

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Returns the number of words that bash reads from `typed`, and the first of them: "1;run7".
std::string ReadByBash(const std::string& typed) {
  const std::string command = "bash -c " + QuotedForShell("set -- " + typed + "; printf '%s;%s' \"$#\" \"$1\"");
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> bytes;
  while (const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), pipe)) text.append(bytes.data(), size);
  pclose(pipe);
  return text;
}

TEST(TypedWord, IsOneWordForAShell) {
  for (const std::string& word :
       {std::string("run7"), std::string("$(touch x)"), std::string("`id`"), std::string("a b"), std::string("it's"),
        std::string(""), std::string("a\nb"), std::string("\x1b[31m7"), std::string("\xff\xfe"),
        std::string("back\\slash\n'"), std::string("模型"), std::string("a\xe2\x80\xae" "b"), std::string("*?[a]~"),
        std::string("a;b|c&d>e<f#g!h")}) {
    EXPECT_EQ(ReadByBash(TypedWord(word)), "1;" + word) << TypedWord(word);
    EXPECT_EQ(Escaped(TypedWord(word)), TypedWord(word)) << "it can be shown on a terminal";
  }
}

TEST(TypedWord, StaysAsItIsWhereItCan) {
  EXPECT_EQ(TypedWord("runs/run-7_a.b:c=1,2@3%"), "runs/run-7_a.b:c=1,2@3%");
  EXPECT_EQ(TypedWord("模型"), "'模型'");
  EXPECT_EQ(TypedWord("a\nb"), "$'a\\012b'");
}

}  // namespace
}  // namespace memoir
