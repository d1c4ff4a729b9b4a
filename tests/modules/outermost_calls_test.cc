// Which calls of modules are outermost.
#include "tracker/modules/outermost_calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace memoir {
namespace {

constinit std::vector<std::uint64_t>* begun = nullptr;

class OutermostCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    begun = &begun_;
    Follow();
  }
  void TearDown() override { FollowOutermostCalls(nullptr); }
  static void Follow() {
    FollowOutermostCalls([](std::uint64_t module) { begun->push_back(module); });
  }

  std::vector<std::uint64_t> begun_;
};

TEST_F(OutermostCallsTest, ACallInsideOfAnotherIsNone) {
  for (int i = 0; i < 2; ++i) {
    NoteModuleEntered(1);
    NoteModuleEntered(2);
    NoteModuleEntered(1);  // itself again
    NoteModuleLeft();
    NoteModuleLeft();
    NoteModuleLeft();
  }
  EXPECT_EQ(begun_, (std::vector<std::uint64_t>{1, 1}));
}

TEST_F(OutermostCallsTest, EachThreadHasItsOwn) {
  NoteModuleEntered(1);
  std::thread([] {
    NoteModuleEntered(2);
    NoteModuleEntered(3);
    NoteModuleLeft();
    NoteModuleLeft();
  }).join();
  NoteModuleEntered(4);
  EXPECT_EQ(begun_, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(OutermostCallsTest, WhatWasOpenBeforeCountsNoMore) {
  NoteModuleEntered(1);
  FollowOutermostCalls(nullptr);
  NoteModuleEntered(2);
  Follow();
  NoteModuleLeft();  // the end of a call that began before modules were followed
  NoteModuleEntered(3);
  NoteModuleEntered(4);
  EXPECT_EQ(begun_, (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(OutermostCallsTest, NobodyIsToldAfterTheEnd) {
  FollowOutermostCalls(nullptr);
  NoteModuleEntered(1);
  EXPECT_TRUE(begun_.empty());
}

}  // namespace
}  // namespace memoir
