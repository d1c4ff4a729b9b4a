// Summaries of ranks that tests make.
#ifndef TESTS_ANALYZE_SUMMARIZED_RANK_H_
#define TESTS_ANALYZE_SUMMARIZED_RANK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analyze/ranks/job/module_sketch.h"
#include "tools/analyze/ranks/odd_ranks.h"

namespace memoir {

inline constexpr std::uint64_t kMiB = 1u << 20;

inline v1::RecordingSummary Recording(std::uint32_t rank, std::uint64_t allocated,
                                      const std::vector<std::string>& modules) {
  v1::RecordingSummary recording;
  recording.mutable_process()->set_rank(rank);
  recording.mutable_process()->set_world_size(64);
  recording.mutable_process()->set_rank_source("torchrun");
  recording.mutable_process()->set_host("node" + std::to_string(rank / 8));
  recording.set_events(10);
  ModuleSketch sketch, kinds;
  for (const std::string& name : modules) {
    sketch.Add(name);
    kinds.Add(WithoutNumbers(name));
  }
  for (const std::uint64_t hash : sketch.hashes()) recording.add_modules(hash);
  for (const std::uint64_t hash : kinds.hashes()) recording.add_kinds_of_modules(hash);
  v1::DeviceSummary& device = *recording.add_devices();
  device.set_name("cuda:0");
  device.set_peak_allocated_bytes(allocated);
  device.set_allocations(1);
  device.set_caching(true);
  device.set_peak_reserved_bytes(allocated);
  return recording;
}

// A rank whose peak consists of these categories.
inline v1::RecordingSummary WithPeak(std::uint32_t rank, const std::map<std::string, std::uint64_t>& categories) {
  std::uint64_t all = 0;
  for (const auto& [name, bytes] : categories) all += bytes;
  v1::RecordingSummary recording = Recording(rank, all, {"a"});
  v1::Composition& composition = *recording.mutable_devices(0)->add_at_peak();
  composition.set_by("category");
  for (const auto& [name, bytes] : categories) {
    v1::HeldRow& row = *composition.add_rows();
    row.set_name(name);
    row.set_bytes(bytes);
  }
  return recording;
}

inline OddRanks Found(const std::vector<v1::RecordingSummary>& recordings) {
  RankBook book;
  for (const v1::RecordingSummary& recording : recordings) book.Add(recording);
  return FindOddRanks(book);
}

}  // namespace memoir

#endif  // TESTS_ANALYZE_SUMMARIZED_RANK_H_
