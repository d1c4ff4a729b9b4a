// Which calls of modules have none around them.
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
    ModuleIsEntered(1);
    ModuleIsEntered(2);
    ModuleIsEntered(1);  // itself again
    ModuleIsLeft();
    ModuleIsLeft();
    ModuleIsLeft();
  }
  EXPECT_EQ(begun_, (std::vector<std::uint64_t>{1, 1}));
}

TEST_F(OutermostCallsTest, EachThreadHasItsOwn) {
  ModuleIsEntered(1);
  std::thread([] {
    ModuleIsEntered(2);
    ModuleIsEntered(3);
    ModuleIsLeft();
    ModuleIsLeft();
  }).join();
  ModuleIsEntered(4);
  EXPECT_EQ(begun_, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(OutermostCallsTest, WhatWasOpenBeforeCountsNoMore) {
  ModuleIsEntered(1);
  FollowOutermostCalls(nullptr);
  ModuleIsEntered(2);
  Follow();
  ModuleIsLeft();  // of one that began while nobody followed
  ModuleIsEntered(3);
  ModuleIsEntered(4);
  EXPECT_EQ(begun_, (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(OutermostCallsTest, NobodyIsToldAfterTheEnd) {
  FollowOutermostCalls(nullptr);
  ModuleIsEntered(1);
  EXPECT_TRUE(begun_.empty());
}

}  // namespace
}  // namespace memoir
