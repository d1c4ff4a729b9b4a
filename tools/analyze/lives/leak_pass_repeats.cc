// The functions of LeakPass that note the bytes of each step, and that handle repeated steps that a replay does not
// visit. Such steps free as many blocks as they allocate, so live blocks do not become more.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "tools/analyze/lives/leaks.h"

namespace memoir {

void LeakPass::NoteLevels() {
  for (auto& [place, row] : rows_) {
    if (place.joined) row.levels.Add(step_, row.bytes);
  }
  for (auto& [id, memory] : memory_) {
    if (!state().memory(id).caching()) continue;
    memory.reserved.Add(step_, state().memory(id).reserved().all);
    memory.allocated.Add(step_, state().memory(id).allocated().all);
    memory.peaks.Add(step_, memory.peak);
    memory.most = std::max(memory.most, std::exchange(memory.of_step, std::uint64_t{0}));
    memory.most_requested.Add(step_, memory.most);
  }
}

// Handles each repeated step as SeeStepBegin handles a visited step. Repeated steps do not add live blocks, so EndStep
// is called only once, for the newest visited step. The last of the repeated steps becomes the newest step.
void LeakPass::SeeRepeated(const RepeatedEvent& event) {
  if (source_ != StepSource::kProgram || frozen_ || !in_window()) return;
  EndStep();
  const std::uint64_t period = event.steps / event.times;
  const std::uint64_t numbers = event.last_step - event.first_step;
  const std::uint64_t begin = state().Nanoseconds(event.process, event.begin);
  const std::uint64_t length = std::max(begin, Nanoseconds(event)) - begin;
  for (std::uint64_t i = 0; i < event.steps; ++i) {
    if (i % period == 0) NoteLevels();  // once for each repeat group: steps within a group may differ
    ++step_;
    numbers_.push_back(event.first_step + i * numbers / std::max<std::uint64_t>(event.steps - 1, 1));
    const std::uint64_t ns = begin + i * length / event.steps;  // as if all steps took equally long
    last_but_one_ns_ = std::exchange(last_ns_, std::exchange(newest_ns_, ns));
  }
  newest_until_ns_ = newest_ns_ + length / event.steps;
  for (const Block* const block : event.moved) {
    if (const std::size_t at = IndexOf(*block); at < known_.size() && known_[at].counts)
      MoveTo(known_[at].step + event.steps, known_[at]);
  }
}

// Counts the block as a block that `step` allocated.
void LeakPass::MoveTo(std::uint64_t step, KnownBlock& known) {
  std::map<std::uint64_t, StepSum>& by_step = rows_[known.place].by_step;
  const auto old = by_step.find(known.step);
  if (old != by_step.end()) {
    old->second.bytes -= std::min(old->second.bytes, known.bytes);
    by_step[step].bytes += known.bytes;
    ++by_step[step].blocks;
    if (--old->second.blocks == 0) by_step.erase(old);
  }
  known.step = step;
}

}  // namespace memoir
