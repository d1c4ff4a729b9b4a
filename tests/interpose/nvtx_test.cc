// Does by hand what NVTX's headers do at their first call: checks which functions are replaced, and which calls a
// follower gets.
#include "interpose/imports/nvtx_injection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A program's pointers to NVTX's functions, and where they lie, as nvtxInitDefs.h has them.
struct Program {
  void* core[16] = {};
  void* core2[16] = {};
  void** core_table[16];
  void** core2_table[16];
};
Program program;

int Functions(int module, void**** table, unsigned* size) {
  for (std::size_t i = 0; i < 16; ++i) {
    program.core_table[i] = i == 0 ? nullptr : &program.core[i];
    program.core2_table[i] = i == 0 ? nullptr : &program.core2[i];
  }
  if (module != 1 && module != 5) return 0;
  *table = module == 1 ? program.core_table : program.core2_table;
  *size = 16;
  return 1;
}
struct Callbacks {
  std::size_t bytes = sizeof(Callbacks);
  int (*functions)(int, void****, unsigned*) = &Functions;
} callbacks;
const void* Table(std::uint32_t id) { return id == 1 ? &callbacks : nullptr; }

std::vector<std::string> told;
void Begin(std::uint32_t depth, const char* text) { told.push_back("begin " + std::to_string(depth) + " " + text); }
void End(std::uint32_t depth) { told.push_back("end " + std::to_string(depth)); }
constexpr NvtxFollower kFollower{&Begin, &End};

struct Attributes {  // nvtxEventAttributes_t
  std::uint16_t version = 3, bytes = 48;
  std::uint32_t category = 0;
  std::int32_t color_type = 0;
  std::uint32_t color = 0;
  std::int32_t payload_type = 0, reserved = 0;
  std::uint64_t payload = 0;
  std::int32_t message_type = 0;
  const void* message = nullptr;
};
static_assert(sizeof(Attributes) == 48);

class NvtxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FollowNvtx(&kFollower);
    ASSERT_EQ(InitializeInjectionNvtx2(&Table), 1);
    told.clear();
  }
  static int Push(const char* text) { return reinterpret_cast<int (*)(const char*)>(program.core[9])(text); }
  static int PushWide(const wchar_t* text) { return reinterpret_cast<int (*)(const wchar_t*)>(program.core[10])(text); }
  static int PushEx(const Attributes& of) { return reinterpret_cast<int (*)(const Attributes*)>(program.core[8])(&of); }
  static int Pop() { return reinterpret_cast<int (*)()>(program.core[11])(); }
  static int DomainPush(const Attributes& of, void* domain = nullptr) {
    return reinterpret_cast<int (*)(void*, const Attributes*)>(program.core2[4])(domain, &of);
  }
  static int DomainPop(void* domain = nullptr) { return reinterpret_cast<int (*)(void*)>(program.core2[5])(domain); }
  static void* Domain(const char* name) { return reinterpret_cast<void* (*)(const char*)>(program.core2[12])(name); }
  static void* Domain(const wchar_t* name) {
    return reinterpret_cast<void* (*)(const wchar_t*)>(program.core2[13])(name);
  }
  static const void* Register(const char* text) {
    return reinterpret_cast<const void* (*)(void*, const char*)>(program.core2[10])(nullptr, text);
  }
};

TEST_F(NvtxTest, RangesNestAndSayTheirLevel) {
  EXPECT_EQ(Push("step"), 0);
  EXPECT_EQ(Push("forward"), 1);
  EXPECT_EQ(Pop(), 1);
  EXPECT_EQ(Pop(), 0);
  EXPECT_THAT(told, ElementsAre("begin 0 step", "begin 1 forward", "end 1", "end 0"));
}

TEST_F(NvtxTest, PopWithoutPushIsNone) {
  EXPECT_EQ(Pop(), -2);
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(NvtxTest, TextsOfAllKindsAreRead) {
  Attributes ascii{.message_type = 1, .message = "plain"};
  Attributes registered{.message_type = 3, .message = Register("known")};
  Attributes stranger{.message_type = 3, .message = "another tool's handle"};
  EXPECT_EQ(PushEx(ascii), 0);
  EXPECT_EQ(DomainPush(registered), 1);
  EXPECT_EQ(DomainPush(stranger), 2);
  EXPECT_EQ(PushEx({}), 3);
  EXPECT_EQ(PushWide(L"w\u00e4rme \U0001f525"), 4);
  EXPECT_THAT(told, ElementsAre("begin 0 plain", "begin 1 known", "begin 2 (NVTX)", "begin 3 (NVTX)",
                                "begin 4 w\xc3\xa4rme \xf0\x9f\x94\xa5"));
  for (int i = 0; i < 5; ++i) DomainPop();
}

TEST_F(NvtxTest, RangesOfLibrariesAreLeftOut) {
  for (void* library : {Domain("CCCL"), Domain("NCCL"), Domain(L"NCCL")}) {
    EXPECT_EQ(DomainPush({.message_type = 1, .message = "cub::DeviceRadixSort"}, library), -2);
    EXPECT_EQ(DomainPop(library), -2);
  }
  for (void* own : {Domain("my_program"), Domain(L"w\u00e4rme"), Domain(static_cast<const char*>(nullptr))}) {
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(DomainPush({.message_type = 1, .message = "step"}, own), 0);
    EXPECT_EQ(DomainPop(own), 0);
  }
  EXPECT_THAT(told, ElementsAre("begin 0 step", "end 0", "begin 0 step", "end 0", "begin 0 step", "end 0"));
}

TEST_F(NvtxTest, DeeperOnesThanCanBeToldArePassedOver) {
  for (int i = 0; i < 300; ++i) EXPECT_EQ(Push("x"), i);
  for (int i = 300; i-- > 0;) EXPECT_EQ(Pop(), i);
  EXPECT_EQ(told.size(), 2u * 256);
}

TEST_F(NvtxTest, RegisteredTextsThatFindNoRoomHaveNone) {
  const std::string text(200, 'x');
  const void* last = nullptr;
  for (int i = 0; i < 1000; ++i) last = Register(text.c_str());
  EXPECT_EQ(PushEx({.message_type = 3, .message = last}), 0);
  EXPECT_THAT(told, ElementsAre("begin 0 (NVTX)"));
  Pop();
}

TEST(Nvtx, TablesThatAreNotThereAreRefused) {
  EXPECT_EQ(InitializeInjectionNvtx2(nullptr), 0);
  EXPECT_EQ(InitializeInjectionNvtx2(+[](std::uint32_t) -> const void* { return nullptr; }), 0);
}

}  // namespace
}  // namespace memoir
