// Pickles of plain data are read; all else is refused by name and offset, and nothing of it is executed.
#include "tools/import/snapshot/pickle_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/pickles.h"

namespace memoir {
namespace {

using testing::Dict;
using testing::Fixed;
using ::testing::HasSubstr;
using testing::Int;
using testing::List;
using testing::Pair;
using testing::Pickle;
using testing::PickleFile;
using testing::Text;

// Takes dictionaries with the key "take".
struct Taker : PickleReader::Visitor {
  explicit Taker(PickleHeap& taken_of) : heap(taken_of) {}
  std::optional<std::uint64_t> TakeItems(std::span<const PickleValue> items) override {
    ++dictionaries;
    for (std::size_t i = 0; i < items.size(); i += 2) {
      if (items[i].is(PickleValue::Kind::kText) && heap.text(static_cast<std::uint32_t>(items[i].data())) == "take")
        return 7;
    }
    return std::nullopt;
  }
  PickleHeap& heap;
  int dictionaries = 0;
};

struct Result {
  PickleHeap heap;
  absl::StatusOr<PickleValue> value;
  int dictionaries = 0;
};

std::unique_ptr<Result> Read(const std::string& bytes) {
  const PickleFile file(bytes);
  auto source = ByteSource::Open(open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  auto result = std::make_unique<Result>();
  Taker taker(result->heap);
  result->value = PickleReader(*source, result->heap).Read(taker);
  result->dictionaries = taker.dictionaries;
  return result;
}

std::string ErrorOf(const std::string& bytes) { return std::string(Read(bytes)->value.status().message()); }

TEST(PickleReader, ReadsEveryProtocolThatSnapshotsHave) {
  for (int protocol = 2; protocol <= 5; ++protocol) {
    const auto read = Read(Pickle(List({Int(1), Text("two"), Pair(3, 4)}), protocol));
    ASSERT_TRUE(read->value.ok()) << protocol << ": " << read->value.status();
    const auto items = read->heap.Items(*read->value);
    ASSERT_EQ(items.size(), 3u);
    EXPECT_EQ(read->heap.Integer(items[0]), 1);
    EXPECT_EQ(read->heap.text(static_cast<std::uint32_t>(items[1].data())), "two");
    EXPECT_EQ(items[2].first(), 3u);
    EXPECT_EQ(items[2].second(), 4u);
  }
  for (const int protocol : {0, 1, 6, 200}) EXPECT_THAT(ErrorOf(Pickle("N", protocol)), HasSubstr("protocol"));
}

TEST(PickleReader, ReadsFramesAndShortTextsOfProtocol4) {
  const std::string inner = std::string("\x8c\x03") + "abc" + "\x94" + "h" + std::string(1, '\0') + "\x86";
  const auto read = Read("\x80\x04\x95" + Fixed(inner.size() + 1, 8) + inner + ".");
  EXPECT_TRUE(read->value.ok()) << read->value.status();
}

TEST(PickleReader, ReadsNumbersOfAllWidths) {
  const std::string bytes = "](K\xff" + std::string("M\xff\xff") + "J" + Fixed(0xfffffffe, 4) + "\x8a\x01\xff" +
                            "\x8a\x08" + Fixed(0x7fffffffffffffff, 8) + Int(0xffffffffffffffff) + "\x88\x89NG" +
                            Fixed(0, 8) + "e";
  const auto read = Read(Pickle(bytes));
  ASSERT_TRUE(read->value.ok()) << read->value.status();
  std::vector<std::int64_t> values;
  for (const PickleValue item : read->heap.Items(*read->value)) values.push_back(read->heap.Integer(item));
  EXPECT_THAT(values, ::testing::ElementsAre(255, 65535, -2, -1, 0x7fffffffffffffff, -1, 1, 0, 0, 0));
}

TEST(PickleReader, SharesValuesThroughTheMemo) {
  const auto read = Read(Pickle("](" + List({Int(9)}) + "q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "e"));
  ASSERT_TRUE(read->value.ok()) << read->value.status();
  const auto items = read->heap.Items(*read->value);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].data(), items[1].data());
}

TEST(PickleReader, LeavesANumberInPlaceOfWhatIsTaken) {
  const auto read = Read(Pickle(List({Dict({{"take", Int(1)}}), Dict({{"leave", Int(1)}})})));
  ASSERT_TRUE(read->value.ok()) << read->value.status();
  const auto items = read->heap.Items(*read->value);
  EXPECT_EQ(read->heap.VisitorNumber(items[0]), 7u);
  EXPECT_EQ(read->heap.VisitorNumber(items[1]), std::nullopt);
  EXPECT_EQ(read->heap.Items(items[1]).size(), 2u);
  EXPECT_EQ(read->dictionaries, 2);
}

TEST(PickleReader, RefusesGlobalsByNameAndExecutesNothing) {
  const std::string touched = ::testing::TempDir() + "memoir-import-touched";
  const std::string system = "cos\nsystem\n" + Text("touch " + touched) + "\x85R";
  EXPECT_THAT(ErrorOf(Pickle(system)), HasSubstr("which names os.system at offset 2; nothing of it was executed"));
  EXPECT_FALSE(std::filesystem::exists(touched));
  EXPECT_THAT(ErrorOf(Pickle(List({Int(1), "cnumpy.core.multiarray\n_reconstruct\n"}))),
              HasSubstr("names numpy.core.multiarray._reconstruct at offset"));
  EXPECT_THAT(ErrorOf(Pickle(Text("posix") + Text("system") + "\x93", 4)), HasSubstr("names posix.system"));
  EXPECT_THAT(ErrorOf(Pickle("(ios\nsystem\n")), HasSubstr("names os.system"));
}

TEST(PickleReader, RefusesWhatMakesObjects) {
  const std::pair<std::string, std::string> kInstructions[] = {
      {"R", "REDUCE"}, {"\x81", "NEWOBJ"}, {"b", "BUILD"}, {"o", "OBJ"}, {"Q", "BINPERSID"}, {"\x97", "NEXT_BUFFER"}};
  for (const auto& [instruction, name] : kInstructions)
    EXPECT_THAT(ErrorOf(Pickle(")" + instruction)), HasSubstr("with " + name + " at offset 3"));
  EXPECT_THAT(ErrorOf(Pickle("\xee")), HasSubstr("damaged pickle: instruction 0xee at offset 2"));
}

TEST(PickleReader, SaysWhereACutFileEnds) {
  const std::string whole = Pickle(Dict({{"segments", List({Int(1), Text("abc")})}}));
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const std::string error = ErrorOf(whole.substr(0, size));
    EXPECT_THAT(error, HasSubstr("cut")) << size;
  }
  EXPECT_TRUE(Read(whole)->value.ok());
}

TEST(PickleReader, TakesNoMemoryForLengthsThatAreNotThere) {
  EXPECT_THAT(ErrorOf("\x80\x02X" + Fixed(0xffffffff, 4)), HasSubstr("a text of 4294967295 bytes"));
  EXPECT_THAT(ErrorOf("\x80\x04\x8d" + Fixed(~std::uint64_t{0}, 8)), HasSubstr("a text of 18446744073709551615 bytes"));
  EXPECT_THAT(ErrorOf("\x80\x02X" + Fixed(1u << 20, 4) + "abc"), HasSubstr("cut"));
  EXPECT_THAT(ErrorOf("\x80\x02\x8b" + Fixed(0x7fffffff, 4)),
              HasSubstr("a pickle of other things, with a number of 2147483647 bytes"));
  EXPECT_THAT(ErrorOf("\x80\x02Nr" + Fixed(0xfffffff0, 4)), HasSubstr("value 4294967280 to remember behind 0"));
  EXPECT_THAT(ErrorOf("\x80\x02j" + Fixed(5, 4)), HasSubstr("value 5, which was never remembered"));
}

TEST(PickleReader, RefusesContainersThatAreNestedTooDeep) {
  EXPECT_THAT(ErrorOf("\x80\x02" + std::string(5000, '(')), HasSubstr("more than 1,000 containers in each other"));
  std::string deep = "\x80\x02";  // of lists without marks: each is appended to the one around it
  for (int i = 0; i < 100'000; ++i) deep += "]";
  for (int i = 1; i < 100'000; ++i) deep += "a";
  EXPECT_TRUE(Read(deep + ".")->value.ok()) << "which takes no stack";
}

TEST(PickleReader, RefusesInstructionsWithoutOperands) {
  for (const std::string bytes : {"a", "s", "e", "u", "t", "d", "l", "\x85", "\x86", "\x87", "q", "\x94"})
    EXPECT_THAT(ErrorOf("\x80\x02" + bytes + std::string(4, '\0')), HasSubstr("damaged pickle")) << bytes;
  EXPECT_THAT(ErrorOf(Pickle("}(Nu")), HasSubstr("a key without a value"));
  EXPECT_THAT(ErrorOf(Pickle("NNN")), HasSubstr("does not leave one value"));
  EXPECT_THAT(ErrorOf(Pickle("N(Ne")), HasSubstr("items without a container"));
  EXPECT_THAT(ErrorOf(Pickle("](]Na")), HasSubstr("damaged pickle"));
}

// A list that is in itself, and lists that double: a few bytes, an endless value to who follows it.
TEST(PickleReader, SurvivesValuesThatContainThemselves) {
  EXPECT_TRUE(Read(Pickle("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a"))->value.ok());
  std::string doubled = "]";
  for (int i = 0; i < 200; ++i)
    doubled += "q" + std::string(1, static_cast<char>(i)) + "0";  // POP is no instruction of plain data
  EXPECT_THAT(ErrorOf(Pickle(doubled)), HasSubstr("instruction 0x30"));
  doubled = "]q" + std::string(1, '\0');
  for (int i = 0; i < 200; ++i)
    doubled =
        "](" + doubled + "h" + std::string(1, static_cast<char>(i)) + "eq" + std::string(1, static_cast<char>(i + 1));
  const auto read = Read(Pickle(doubled));
  EXPECT_TRUE(read->value.ok()) << read->value.status();
}

}  // namespace
}  // namespace memoir
