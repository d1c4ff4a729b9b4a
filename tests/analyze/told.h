// The categories of blocks in small recordings, by address, and the parts of such recordings.
#ifndef TESTS_ANALYZE_TOLD_H_
#define TESTS_ANALYZE_TOLD_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/lives/block_lives.h"

namespace memoir::testing {

inline TensorSpec At(std::uint64_t address) {
  return {.impl = address + 1, .storage = address, .storage_bytes = 64, .sizes = {16}};
}

struct Told {
  std::string rule;
  std::string parameter;
};

// Returns the rule and the parameter of the last block at each address.
inline std::map<std::uint64_t, Told> Tell(ProcessBuilder& process) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  const Selection all;
  JointReplays replays(*capture, all);
  SharedCategories shared(replays);
  const absl::StatusOr<KnownCategories>& categories = replays.Finish(shared.Find());
  EXPECT_TRUE(categories.ok()) << categories.status();
  std::map<std::uint64_t, Told> told;
  const auto tell = [&](const BlockLife& life, const ReplayState&) {
    Told& one = told[life.block->address];
    one.rule = Rules()[life.rule].name;
    if (life.parameter != kNoParameter) one.parameter = (*categories)->parameters[life.parameter].label();
  };
  const auto report = replays.Finish(ForEachBlockLife(replays, all, **categories, tell));
  EXPECT_TRUE(report.ok()) << report.status();
  return told;
}

inline constexpr std::uint64_t kWeight = 0x1000, kBias = 0x2000, kMean = 0x3000, kInput = 0x4000, kHidden = 0x5000,
                        kLoss = 0x6000, kGradient = 0x7000, kMomentum = 0x8000, kScratch = 0x9000, kFlow = 0xa000;

// An operator that computes a result from its inputs.
inline ProcessBuilder& Compute(ProcessBuilder& process, const std::string& name, std::int64_t sequence,
                               std::uint64_t result) {
  return process.BeginForward(name, sequence).Allocate(result, 64).End({At(result)});
}

}  // namespace memoir::testing

#endif  // TESTS_ANALYZE_TOLD_H_
