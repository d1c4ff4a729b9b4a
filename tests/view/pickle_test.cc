// The bytes that Python's pickletools would show as these values. That Python reads them: tests/simulated.
#include "tools/view/json/pickle.h"

#include <gtest/gtest.h>

#include <string>

namespace memoir {
namespace {

template <class Fill>
std::string Written(Fill fill) {
  std::string bytes;
  Pickle pickle([&](std::string_view more) { bytes += more; });
  fill(pickle);
  pickle.End();
  EXPECT_EQ(bytes.substr(0, 2), "\x80\x02");
  EXPECT_EQ(bytes.back(), '.');
  return bytes.substr(2, bytes.size() - 3);
}

TEST(Pickle, Integers) {
  EXPECT_EQ(Written([](Pickle& pickle) { pickle.Integer(258); }), std::string("J\x02\x01\0\0", 5));
  EXPECT_EQ(Written([](Pickle& pickle) { pickle.Integer(0x7fffffff); }), "J\xff\xff\xff\x7f");
  EXPECT_EQ(Written([](Pickle& pickle) { pickle.Integer(0x80000000); }),
            std::string("\x8a\x09\0\0\0\x80\0\0\0\0\0", 11));
  EXPECT_EQ(Written([](Pickle& pickle) { pickle.Integer(~std::uint64_t{0}); }),
            std::string("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0", 11));
}

TEST(Pickle, RealNumbersBigEndFirst) {
  EXPECT_EQ(Written([](Pickle& pickle) { pickle.Real(1.5); }), std::string("G\x3f\xf8\0\0\0\0\0\0", 9));
}

TEST(Pickle, ADictionaryOfPairsWhoseTextComesTwice) {
  const std::string bytes = Written([](Pickle& pickle) {
    pickle.BeginDictionary();
    pickle.Text("a");
    pickle.Remember("bc", 7);
    pickle.Recall(7);
    pickle.EndPair();
    pickle.EndDictionary();
  });
  EXPECT_EQ(bytes, std::string("}(X\x01\0\0\0"
                               "aX\x02\0\0\0"
                               "bcr\x07\0\0\0"
                               "j\x07\0\0\0"
                               "\x86u",
                               27));
}

TEST(Pickle, AListThatComesTwice) {
  const std::string bytes = Written([](Pickle& pickle) {
    pickle.BeginList();
    pickle.Boolean(true);
    pickle.Boolean(false);
    pickle.EndList();
    pickle.Keep(3);
    pickle.Recall(3);
  });
  EXPECT_EQ(bytes, std::string("](\x88\x89"
                               "er\x03\0\0\0j\x03\0\0\0",
                               15));
}

TEST(Pickle, MuchIsWrittenInPieces) {
  std::size_t pieces = 0, bytes = 0;
  Pickle pickle([&](std::string_view more) {
    ++pieces;
    bytes += more.size();
  });
  for (int i = 0; i < 100; ++i) pickle.Text(std::string(4096, 'x'));
  pickle.End();
  EXPECT_GT(pieces, 3u);
  EXPECT_EQ(bytes, 2 + 100 * (1 + 4 + 4096) + 1u);
}

}  // namespace
}  // namespace memoir
