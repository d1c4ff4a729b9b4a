// Random histories of an allocator as snapshots, with what a reader must find in them.
//
// A small allocator makes them: segments of 2 MiB, blocks in steps of 512 bytes at the first place that is free.
#ifndef TESTS_IMPORT_RANDOM_HISTORY_H_
#define TESTS_IMPORT_RANDOM_HISTORY_H_

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/import/pickles.h"

namespace memoir::testing {

struct RandomHistory {
  struct Device {
    std::uint64_t peak = 0, end = 0, reserved = 0;  // of the entries that are left
  };
  std::string pickle;
  std::vector<Device> devices;
  bool cut = false;
};

class RandomAllocator {
 public:
  RandomAllocator(std::mt19937_64& random, std::uint64_t device) : random_(random), base_((device + 1) << 40) {}

  void Step(std::uint64_t us) {
    if (live_.empty() || random_() % 5 < 3) {
      Allocate(us);
    } else {
      auto block = live_.begin();
      std::advance(block, static_cast<std::ptrdiff_t>(random_() % live_.size()));
      sum_ -= block->second.bytes;
      Record(Entry("free_requested", block->first, block->second.requested, us));
      Record(Entry("free_completed", block->first, block->second.requested, us));
      live_.erase(block);
    }
  }

  // Without the first `cut` entries.
  RandomHistory::Device Finish(std::size_t cut, std::vector<std::string>& trace, std::vector<std::string>& segments,
                               std::uint64_t device) const {
    RandomHistory::Device found{.end = sum_, .reserved = segments_ * kSegment};
    cut = std::min(cut, trace_.size());
    trace.assign(trace_.begin() + static_cast<std::ptrdiff_t>(cut), trace_.end());
    found.peak = cut == 0 ? 0 : sums_[cut - 1];
    for (std::size_t i = cut; i < sums_.size(); ++i) found.peak = std::max(found.peak, sums_[i]);
    for (std::uint64_t i = 0; i < segments_; ++i) {
      std::vector<std::string> blocks;
      std::uint64_t at = base_ + i * kSegment;
      const std::uint64_t end = at + kSegment;
      for (auto block = live_.lower_bound(at); block != live_.end() && block->first < end; ++block) {
        if (block->first > at) blocks.push_back(Block(at, block->first - at, "inactive"));
        blocks.push_back(Dict({{"address", Int(block->first)},
                               {"size", Int(block->second.bytes)},
                               {"requested_size", Int(block->second.requested)},
                               {"state", Text("active_allocated")},
                               {"frames", block->second.frames}}));
        at = block->first + block->second.bytes;
      }
      if (at < end) blocks.push_back(Block(at, end - at, "inactive"));
      segments.push_back(Segment(base_ + i * kSegment, kSegment, blocks, device));
    }
    return found;
  }
  std::size_t entries() const { return trace_.size(); }

 private:
  static constexpr std::uint64_t kSegment = 2u << 20;
  struct LiveBlock {
    std::uint64_t bytes = 0, requested = 0;
    std::string frames;
  };

  void Record(const std::string& entry) {
    trace_.push_back(entry);
    sums_.push_back(sum_);
  }

  void Allocate(std::uint64_t us) {
    LiveBlock block{.requested = 1 + random_() % (1u << (4 + random_() % 16)),
                    .frames = List({Frame("/src/train.py", "f", 1 + random_() % 9)})};
    block.bytes = (block.requested + 511) / 512 * 512;
    std::uint64_t at = base_;
    for (const auto& [address, other] : live_) {
      const std::uint64_t end = base_ + ((at - base_) / kSegment + 1) * kSegment;
      if (at + block.bytes > end) at = end;
      if (at + block.bytes <= address) break;
      at = std::max(at, address + other.bytes);
    }
    const std::uint64_t end = base_ + ((at - base_) / kSegment + 1) * kSegment;
    if (at + block.bytes > end) at = end;
    while (base_ + segments_ * kSegment < at + block.bytes)
      Record(Entry("segment_alloc", base_ + segments_++ * kSegment, kSegment, us));
    sum_ += block.bytes;
    Record(Entry("alloc", at, block.requested, us, block.frames));
    live_[at] = block;
  }

  std::mt19937_64& random_;
  const std::uint64_t base_;
  std::map<std::uint64_t, LiveBlock> live_;
  std::vector<std::string> trace_;
  std::vector<std::uint64_t> sums_;  // of live bytes behind each entry
  std::uint64_t segments_ = 0, sum_ = 0;
};

inline RandomHistory MakeRandomHistory(std::mt19937_64& random, std::size_t steps) {
  RandomHistory history;
  const std::size_t devices = 1 + random() % 3;
  std::vector<RandomAllocator> allocators;
  for (std::size_t i = 0; i < devices; ++i) allocators.emplace_back(random, i);
  for (std::size_t i = 0; i < steps; ++i) allocators[random() % devices].Step(1'700'000'000'000'000 + i);
  history.cut = random() % 2 == 0;
  std::vector<std::string> segments;
  std::vector<std::vector<std::string>> traces(devices);
  for (std::size_t i = 0; i < devices; ++i) {
    const std::size_t cut = history.cut ? random() % (allocators[i].entries() + 1) : 0;
    history.devices.push_back(allocators[i].Finish(cut, traces[i], segments, i));
  }
  history.pickle = Snapshot(segments, traces);
  return history;
}

}  // namespace memoir::testing

#endif  // TESTS_IMPORT_RANDOM_HISTORY_H_
