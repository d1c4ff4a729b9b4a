// Options as a recording uses them.
#include "tracker/session/settings.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/session/variables.h"

namespace memoir {
namespace {

TEST(SettingsTest, FoldersAndFilesMeanTheSameWhereverTheProgramGoes) {
  const Variables variables{{"MEMOIR_CONTROL", "switches/now"}};
  const char* const given[] = {"output=run", "ring_dir=rings", nullptr};
  std::string error;
  const auto settings = ReadSettings(given, &error);
  ASSERT_TRUE(settings) << error;
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(settings->output, here + "/run");
  EXPECT_EQ(settings->ring_dir, here + "/rings");
  EXPECT_EQ(settings->controls.control_file, here + "/switches/now");
}

TEST(SettingsTest, WhatIsNotNamedStaysSo) {
  const char* const given[] = {"output=/run", nullptr};
  std::string error;
  const auto settings = ReadSettings(given, &error);
  ASSERT_TRUE(settings) << error;
  EXPECT_EQ(settings->ring_dir, "");
  EXPECT_EQ(settings->controls.control_file, "/run/control");
}

TEST(SettingsTest, BlocksArePublishedWhereThatIsAskedFor) {
  const char* const given[] = {"output=/run", nullptr};
  std::string error;
  EXPECT_FALSE(ReadSettings(given, &error)->publishes);
  {
    const Variables variables{{"MEMOIR_PUBLISH", "nvtx-memory"}};
    EXPECT_TRUE(ReadSettings(given, &error)->publishes);
  }
  const char* const other[] = {"output=/run", "publish=nvtx", nullptr};
  EXPECT_FALSE(ReadSettings(other, &error));
  EXPECT_EQ(error, "publish=nvtx is neither none nor nvtx-memory");
}

}  // namespace
}  // namespace memoir
