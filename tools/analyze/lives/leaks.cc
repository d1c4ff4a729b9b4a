#include "tools/analyze/lives/leaks.h"

#include <algorithm>

namespace memoir {
namespace {

// Fewer may be a queue, or gradients that are accumulated.
constexpr std::uint64_t kFewestSteps = 5;
// Of the device's peak: what keeps less is no reason to look.
constexpr std::uint64_t kSmallestShare = 100;

std::size_t IndexOf(const Block& block) { return block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1}; }

}  // namespace

void LeakPass::SeeProcessBegin(const ProcessEvent& /*event*/) {
  Restart(StepSource::kNone);
  known_.clear();
  memory_.clear();
  newest_.clear();
}

void LeakPass::Restart(StepSource source) {
  source_ = source;
  step_ = 0;
  rows_.clear();
  for (Known& known : known_) known.counts = false;
}

void LeakPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  Memory& memory = memory_[block.device];
  memory.live += block.bytes;
  memory.peak = std::max(memory.peak, memory.live);
  const std::size_t at = IndexOf(block);
  if (at >= known_.size()) known_.resize(at + 1);
  const StackId stack = block.line_callstack();
  known_[at] = {};
  if (source_ == StepSource::kNone || !stack.valid()) return;
  const Place place = {block.device, lines_.NumberOf(stack, state().dictionary())};
  const auto [row, added] = rows_.try_emplace(place);
  if (added) row->second.first_step = step_;
  for (Held* held : {&row->second.all, &row->second.by_step[step_]}) {
    held->bytes += block.bytes;
    ++held->blocks;
  }
  known_[at] = {place, step_, true};
}

void LeakPass::SeeDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  Memory& memory = memory_[block.device];
  memory.live -= std::min(memory.live, block.bytes);
  const std::size_t at = IndexOf(block);
  if (at >= known_.size() || !known_[at].counts) return;
  known_[at].counts = false;
  Row& row = rows_[known_[at].place];
  const auto step = row.by_step.find(known_[at].step);
  if (step == row.by_step.end()) return;
  for (Held* held : {&row.all, &step->second}) {
    held->bytes -= std::min(held->bytes, block.bytes);
    --held->blocks;
  }
  if (step->second.blocks == 0) row.by_step.erase(step);
}

void LeakPass::StepBegins(StepSource source, const Event& event) {
  if (source > source_) {
    Restart(source);
    return;
  }
  if (source != source_) return;
  if (in_window()) Judge(event);
  ++step_;
}

// The step that ends here is left out: the next one may free what it made.
void LeakPass::Judge(const Event& event) {
  newest_.clear();
  for (const auto& [place, row] : rows_) {
    const auto newest = row.by_step.find(step_);
    const Held out = newest == row.by_step.end() ? Held() : newest->second;
    const std::uint64_t steps = row.by_step.size() - (newest == row.by_step.end() ? 0 : 1);
    if (steps < kFewestSteps || 4 * steps < 3 * (step_ - row.first_step)) continue;
    Leak leak;
    leak.process = event.process;
    leak.bytes = row.all.bytes - out.bytes;
    leak.blocks = row.all.blocks - out.blocks;
    leak.steps = steps;
    leak.ns = Nanoseconds(event);
    newest_.emplace_back(place, std::move(leak));
  }
}

void LeakPass::SeeProcessEnd(const ProcessEvent& /*event*/) {
  for (auto& [place, leak] : newest_) {
    if (leak.bytes < memory_[place.first].peak / kSmallestShare || leak.bytes == 0) continue;
    leak.line = SourceLineOf(lines_.FrameOf(place.second), state().dictionary());
    leak.device = ToString(state().dictionary().device(place.first));
    leaks_.push_back(std::move(leak));
  }
  newest_.clear();
}

std::vector<Leak> LeakPass::Take() {
  std::ranges::stable_sort(leaks_, [](const Leak& a, const Leak& b) { return a.bytes > b.bytes; });
  return std::move(leaks_);
}

}  // namespace memoir
