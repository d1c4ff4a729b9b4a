// Cards and options parsed from text: good values, and one clear line for each bad one.
#include "simcuda/configuration/configuration.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simcuda/configuration/built_in_tables.h"

namespace memoir::simcuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCard[] =
    "name = Card\ncompute_capability = 8.6\nbinary_version = 8.6\nmemory = 8GiB\ncontext = 100MiB\n"
    "multiprocessors = 4\nthreads_per_multiprocessor = 1024\nblocks_per_multiprocessor = 16\nshared_memory = 64KiB\n"
    "shared_memory_per_block = 48KiB\nl2_cache = 4MiB\nclock_mhz = 1000\nmemory_bus_bits = 64\n";

std::string ErrorOf(const std::string& text) {
  std::vector<CardProfile> profiles;
  return ParseProfiles(text, profiles);
}

TEST(Profiles, TheBuiltInOnesAreWhole) {
  std::vector<CardProfile> profiles;
  ASSERT_EQ(ParseProfiles(BuiltInProfiles(), profiles), "");
  std::vector<std::string> keys;
  for (const CardProfile& profile : profiles) {
    keys.push_back(profile.key);
    EXPECT_GT(profile.memory, 7 * kGiB) << profile.key;
    EXPECT_LE(profile.memory, profile.memory_most) << profile.key << ": drivers differ";
    EXPECT_EQ(std::ranges::count(keys, profile.key), 1) << profile.key;
    EXPECT_LE(profile.binary_version, profile.compute_major * 10 + profile.compute_minor) << profile.key;
    EXPECT_LE(profile.shared_memory_per_block, profile.shared_memory) << profile.key;
  }
  EXPECT_THAT(keys, ::testing::IsSupersetOf({"h100", "h200", "a100-80", "a100-40", "l4", "a10g", "t4", "rtx4090",
                                             "b200", "v100-32", "v100-16", "p100", "a40", "l40s", "rtx3090"}));
}

TEST(Profiles, OneCardIsLikeAnotherButForWhatFollows) {
  std::vector<CardProfile> profiles;
  const std::string base = std::string("[x]\n") + kCard + "common = yes\nunowned = 3MiB\n";
  ASSERT_EQ(ParseProfiles(base + "[y]\nlike = x\nmemory = 9GiB\nmemory_most = 10GiB\n", profiles), "");
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[1].key, "y");
  EXPECT_EQ(profiles[1].name, "Card");
  EXPECT_EQ(profiles[1].memory, 9 * kGiB);
  EXPECT_EQ(profiles[1].memory_most, 10 * kGiB);
  EXPECT_EQ(profiles[1].unowned, 3 * kMiB);
  EXPECT_TRUE(profiles[0].common);
  EXPECT_FALSE(profiles[1].common);
}

TEST(Profiles, MemoryOfItsOwnBringsNoMostOfAnother) {
  std::vector<CardProfile> profiles;
  const std::string base = std::string("[x]\n") + kCard + "memory_most = 10GiB\n";
  ASSERT_EQ(ParseProfiles(base + "[y]\nlike = x\nmemory = 4GiB\n[z]\nlike = x\nmemory_most = 9GiB\nmemory = 4GiB\n"
                                 "[w]\nlike = x\nname = W\n",
                          profiles),
            "");
  std::vector<std::uint64_t> most;
  for (const CardProfile& profile : profiles) most.push_back(profile.memory_most);
  EXPECT_THAT(most, ::testing::ElementsAre(10 * kGiB, 0, 9 * kGiB, 10 * kGiB));
}

TEST(Profiles, EveryFieldIsRead) {
  std::vector<CardProfile> profiles;
  ASSERT_EQ(ParseProfiles(std::string("[mine]   # a comment\n") + kCard, profiles), "");
  const CardProfile& card = profiles.at(0);
  EXPECT_EQ(card.key, "mine");
  EXPECT_EQ(card.name, "Card");
  EXPECT_EQ(card.compute_major, 8);
  EXPECT_EQ(card.compute_minor, 6);
  EXPECT_EQ(card.memory, 8 * kGiB);
  EXPECT_EQ(card.context, 100 * kMiB);
  EXPECT_EQ(card.memory_bus_bits, 64);
}

TEST(Profiles, TheLaterOfTwoCounts) {
  std::vector<CardProfile> profiles;
  const std::string card = std::string("[x]\n") + kCard;
  ASSERT_EQ(ParseProfiles(card + card + "name = Second\n", profiles), "");
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].name, "Second");
}

TEST(Profiles, ErrorsNameLineAndField) {
  EXPECT_THAT(ErrorOf("[x]\nname = y\n"), HasSubstr("line 1: [x] lacks compute_capability"));
  EXPECT_THAT(ErrorOf("name = y\n"), HasSubstr("line 1: expected [card]"));
  EXPECT_THAT(ErrorOf("[x]\n\nmemory = lots\n"), HasSubstr("line 3: memory = lots"));
  EXPECT_THAT(ErrorOf("[x]\nspeed = 3\n"), HasSubstr("line 2: speed = 3: no such field or value"));
  EXPECT_THAT(ErrorOf("[x]\ncompute_capability = 9\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf(std::string("[x]\n") + kCard + "context = 9GiB\n"), HasSubstr("larger than its memory"));
  EXPECT_THAT(ErrorOf(std::string("[x]\n") + kCard + "memory_most = 7GiB\n"), HasSubstr("less than its memory"));
  EXPECT_THAT(ErrorOf("[x]\nlike = y\n"), HasSubstr("line 2: like = y: no such field or value"));
  EXPECT_THAT(ErrorOf(std::string("[x]\n") + kCard + "[y]\nname = z\nlike = x\n"), HasSubstr("like = x"));
  EXPECT_THAT(ErrorOf(std::string(100000, '[')), HasSubstr("line 1"));
}

TEST(Configure, DefaultsToOneH100) {
  const Configuration made = Configure({});
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.devices, 1);
  EXPECT_EQ(made.description, "NVIDIA H100 80GB HBM3 (h100)");
}

TEST(Configure, CardMemoryAndNumber) {
  const Configuration made = Configure({"l4", "8GiB", "4", ""});
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.devices, 4);
  EXPECT_EQ(made.profile.memory, 8 * kGiB);
  EXPECT_EQ(made.description, "NVIDIA L4 (l4) with 8.00 GiB");
}

TEST(Configure, BadValuesAreOneLineAndNoDevice) {
  const ConfigurationRequest bad[] = {{"h101", "", "", ""},
                                      {"", "3MiB", "", ""},
                                      {"", "much", "", ""},
                                      {"", "9999T", "", ""},
                                      {"", "", "0", ""},
                                      {"", "", "65", ""},
                                      {"", "", "-1", ""},
                                      {"", "", "two", ""},
                                      {"", "", "", "/no/such/file"},
                                      {"", "", "", "/dev/zero"},
                                      {.unknown = "some"},
                                      {.late = "-1"},
                                      {.late = "1e3"},
                                      {.addresses = "windows"}};
  for (const ConfigurationRequest& request : bad) {
    const Configuration made = Configure(request);
    EXPECT_EQ(made.devices, 0);
    EXPECT_NE(made.error, "");
    EXPECT_THAT(made.error, Not(HasSubstr("\n")));
  }
  EXPECT_THAT(Configure(bad[0]).error, HasSubstr("unknown card h101; known are h100, h100-pcie"));
  EXPECT_THAT(Configure(bad[9]).error, HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(Configure(bad[10]).error, HasSubstr("MEMOIR_SIM_UNKNOWN=some: expected least or most"));
  EXPECT_THAT(Configure(bad[11]).error, HasSubstr("MEMOIR_SIM_LATE=-1: expected a number from 0"));
  EXPECT_THAT(Configure(bad[13]).error, HasSubstr("MEMOIR_SIM_ADDRESSES=windows: expected linux or wsl"));
}

TEST(Configure, UnknownShapesAndLateWork) {
  EXPECT_FALSE(Configure({}).takes_most);
  EXPECT_FALSE(Configure({.unknown = "least"}).takes_most);
  EXPECT_TRUE(Configure({.unknown = "most"}).takes_most);
  EXPECT_EQ(Configure({}).late, kDefaultLate);
  EXPECT_EQ(Configure({.late = "0"}).late, 0u);
}

TEST(Configure, OneRankOfAWorld) {
  const Configuration made = Configure({.rank = "4095", .world = "4096", .timeout = "5"});
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.rank, 4095);
  EXPECT_EQ(made.world, 4096);
  EXPECT_EQ(made.patience_seconds, 5);
  EXPECT_EQ(made.description, "NVIDIA H100 80GB HBM3 (h100), alone of 4096 ranks");
  EXPECT_EQ(Configure({.world = "8"}).rank, 0);
  EXPECT_EQ(Configure({}).world, 0);
  for (const char* world : {"0", "-1", "4097", "many"})
    EXPECT_THAT(Configure({.world = world}).error, HasSubstr("MEMOIR_SIM_WORLD=")) << world;
  EXPECT_THAT(Configure({.rank = "8", .world = "8"}).error,
              HasSubstr("MEMOIR_SIM_RANK=8: expected a number from 0 to 7"));
  EXPECT_THAT(Configure({.rank = "0"}).error, HasSubstr("MEMOIR_SIM_RANK is set, but not MEMOIR_SIM_WORLD"));
  EXPECT_THAT(Configure({.timeout = "0"}).error, HasSubstr("MEMOIR_SIM_TIMEOUT=0"));
}

TEST(Configure, CardsOfOnesOwn) {
  char path[] = "/tmp/memoir-cards-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  FILE* const out = fdopen(file, "w");
  std::fprintf(out, "[mine]\n%s", kCard);
  std::fclose(out);
  EXPECT_EQ(Configure({"mine", "", "", path}).profile.name, "Card");
  EXPECT_EQ(Configure({"h100", "", "", path}).error, "");
  std::remove(path);
}

TEST(Configure, WhatOthersHoldWhatMayBePinnedAndWhatAHandleTakes) {
  ConfigurationRequest request;
  EXPECT_EQ(Configure(request).others, 0u);
  EXPECT_EQ(Configure(request).pinned, UINT64_MAX);
  request.others = "1GiB";
  request.pinned = "0";
  request.handles = "50MiB";
  const Configuration chosen = Configure(request);
  EXPECT_EQ(chosen.error, "");
  EXPECT_EQ(chosen.others, kGiB);
  EXPECT_EQ(chosen.pinned, 0u);
  EXPECT_EQ(chosen.handle, 50 * kMiB);
  for (const char* wrong : {"1000GiB", "much", "-1"}) {
    request.others = wrong;
    EXPECT_THAT(Configure(request).error, testing::HasSubstr("MEMOIR_SIM_OTHERS=" + std::string(wrong)));
  }
}

}  // namespace
}  // namespace memoir::simcuda
