#include "tools/analyze/lives/leaks.h"

#include <algorithm>
#include <tuple>

#include "tools/analyze/categories/evidence/categorization.h"

namespace memoir {
namespace {

// A place is reported if it keeps at least a hundredth of the device's peak, or at least kLargeStep bytes in each step
// for at least kManySteps steps. In 100,000 steps, kLargeStep bytes for each step sum to the memory of a GPU.
constexpr std::uint64_t kSmallestShare = 100;
constexpr std::uint64_t kLargeStep = std::uint64_t{1} << 18, kManySteps = 20;
// Smaller growth of reserved bytes is not reported.
constexpr std::uint64_t kLargeReserved = std::uint64_t{64} << 20;

// Returns true if the operator makes a longer tensor from an existing tensor.
bool Joins(std::string_view operator_name) {
  return operator_name == "aten::cat" || operator_name == "aten::concat" || operator_name == "aten::hstack" ||
         operator_name == "aten::vstack" || operator_name == "aten::constant_pad_nd" || operator_name == "aten::pad";
}

}  // namespace

void LeakPass::SeeProcessBegin(const ProcessEvent& /*event*/) {
  Restart(StepSource::kNone);
  known_.clear();
  memory_.clear();
  newest_ns_ = last_ns_ = last_but_one_ns_ = 0;
  frozen_ = false;
}

void LeakPass::Restart(StepSource source) {
  source_ = source;
  step_ = 0;
  numbers_ = {steps().newest(source)};
  rows_.clear();
  new_.clear();
  gone_.clear();
  for (KnownBlock& known : known_) known.counts = false;
  for (auto& [id, memory] : memory_) memory = Memory{memory.live, memory.peak};
}

void LeakPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (newest_until_ns_ == 0) newest_until_ns_ = Nanoseconds(event);
  Memory& memory = memory_[block.device];
  memory.live += block.bytes;
  memory.peak = std::max(memory.peak, memory.live);
  memory.of_step += block.requested_bytes;
  const std::size_t at = IndexOf(block);
  if (at >= known_.size()) known_.resize(at + 1);
  known_[at] = {};
  if (source_ == StepSource::kNone || frozen_ || event.before || !in_window()) return;
  Place place;
  place.device = block.device;
  if (const StackId stack = block.line_callstack(); stack.valid()) {
    place.line = lines_.NumberOf(stack, state().dictionary());
  } else {
    place.operator_name = block.operator_name;
    place.module = block.module;
  }
  place.joined = block.operator_name.valid() && Joins(state().dictionary().text(block.operator_name));
  const LeakPart part = {block.operator_name, block.module, categories_.RuleOf(block)};
  place.workspace = Rules()[std::get<RuleNumber>(part)].holder == HolderKind::kLibrary;
  // For joined tensors, uses the requested bytes: an unsplit cached block is larger than these by varying amounts.
  const std::uint64_t bytes = place.joined && block.requested_bytes > 0 ? block.requested_bytes : block.bytes;
  new_.push_back({place, part, bytes, static_cast<std::uint32_t>(at)});
  known_[at] = {place, part, bytes, step_, static_cast<std::uint32_t>(new_.size()), true, block.inferred()};
}

void LeakPass::SeeDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  if (newest_until_ns_ == 0) newest_until_ns_ = Nanoseconds(event);
  Memory& memory = memory_[block.device];
  memory.live -= std::min(memory.live, block.bytes);
  const std::size_t at = IndexOf(block);
  if (at >= known_.size() || !known_[at].counts) return;
  known_[at].counts = false;
  if (known_[at].at > 0) {
    new_[known_[at].at - 1].live = false;
  } else {
    gone_.push_back(known_[at]);
  }
}

// Adds the allocations and deallocations of the current step to the rows.
void LeakPass::EndStep() {
  for (const NewBlock& made : new_) {
    if (!made.live) continue;
    Row& row = rows_[made.place];
    row.bytes += made.bytes;
    StepSum& held = row.by_step[step_];
    held.bytes += made.bytes;
    ++held.blocks;
    if (made.slot < known_.size() && known_[made.slot].counts) known_[made.slot].at = 0;
  }
  for (const KnownBlock& freed : gone_) {
    const auto found = rows_.find(freed.place);
    if (found == rows_.end()) continue;
    Row& row = found->second;
    row.bytes -= std::min(row.bytes, freed.bytes);
    row.oldest_freed = std::max(row.oldest_freed, step_ - freed.step);
    const auto step = row.by_step.find(freed.step);
    if (step == row.by_step.end()) continue;
    step->second.bytes -= std::min(step->second.bytes, freed.bytes);
    if (--step->second.blocks == 0) row.by_step.erase(step);
  }
  new_.clear();
  gone_.clear();
}

void LeakPass::SeeStepBegin(StepSource source, const Event& event) {
  if (source > source_) {
    Restart(source);
    return;
  }
  if (source != source_ || frozen_) return;
  if (!in_window()) {
    frozen_ = newest_ns_ > 0 && step_ > 0;
    return;
  }
  EndStep();
  NoteLevels();
  ++step_;
  numbers_.push_back(steps().newest(source));
  last_but_one_ns_ = std::exchange(last_ns_, std::exchange(newest_ns_, Nanoseconds(event)));
  newest_until_ns_ = 0;
}

// Returns nullopt if a place does not leak. For kKept, leaves out the newest complete step, because the next step may
// free its blocks.
std::optional<LeakPass::LeakCandidate> LeakPass::Judge(const Place& place, const Row& row) {
  const std::uint64_t newest = step_ - 1;
  std::vector<KeptStep> kept;
  LeakCandidate found;
  Leak& leak = found.leak;
  for (const auto& [step, held] : row.by_step) {
    if (step < newest) kept.push_back({step, held.bytes});
  }
  const std::optional<std::uint64_t> since = FindKeptSince(kept, newest, row.oldest_freed);
  const std::optional<LevelSeries::Rise> rise = place.joined ? row.levels.FindRise() : std::nullopt;
  if (since) {
    for (auto held = row.by_step.lower_bound(*since); held != row.by_step.end() && held->first < newest; ++held) {
      leak.bytes += held->second.bytes;
    }
    leak.steps = newest - *since;
    leak.since_step = numbers_[*since];
    found.since = *since;
    found.until = newest;
  } else if (rise && rise->steps > 0) {
    leak.kind = Leak::Kind::kReplaced;
    leak.bytes = rise->bytes;
    leak.steps = rise->steps;
    leak.since_step = numbers_[rise->since];
    found.until = step_;
  } else {
    return std::nullopt;
  }
  if (place.line != kNoLine) leak.line = SourceLineOf(lines_.FrameOf(place.line), state().dictionary());
  const Memory& memory = memory_[place.device];
  const bool large =
      leak.bytes >= memory.peak / kSmallestShare || (leak.steps >= kManySteps && leak.bytes_per_step() >= kLargeStep);
  if (leak.bytes == 0 || !large) return std::nullopt;
  return found;
}

// Adds to each candidate its blocks that were live when the newest step began.
void LeakPass::TakeParts(absl::flat_hash_map<Place, LeakCandidate>& kept) const {
  const auto take = [&](const KnownBlock& known) {
    const auto found = kept.find(known.place);
    if (found == kept.end() || known.step < found->second.since || known.step >= found->second.until) return;
    found->second.parts[known.part] += known.bytes;
    ++found->second.blocks;
    found->second.leak.inferred_blocks += known.inferred;
  };
  for (const KnownBlock& known : known_) {
    if (known.counts && known.at == 0) take(known);
  }
  for (const KnownBlock& freed : gone_) take(freed);
}

void LeakPass::JudgeReserved(DeviceId id, const Memory& memory, ProcessId process) {
  const std::optional<LevelSeries::Rise> rise = memory.reserved.FindRise();
  if (!rise || rise->steps == 0 || rise->bytes < kLargeReserved) return;
  const std::uint64_t needed = std::max(memory.allocated.RiseSince(rise->since), memory.peaks.RiseSince(rise->since));
  // Reserved bytes also grow if sequences become longer. Such growth is not fragmentation. Other figures show it: the
  // peak of allocated bytes grows, or the steps request more bytes.
  if (needed > rise->bytes / 2 || memory.most_requested.GrowsFrom(rise->since)) return;
  Leak leak;
  leak.kind = Leak::Kind::kFragmentation;
  leak.bytes = rise->bytes;
  leak.steps = rise->steps;
  leak.since_step = numbers_[rise->since];
  Add(std::move(leak), id, process);
}

void LeakPass::Add(Leak leak, DeviceId device, ProcessId process) {
  leak.process = process;
  leak.device = ToString(state().dictionary().device(device));
  leak.ns = newest_ns_;
  leak.until_ns = newest_until_ns_;
  leak.from_ns = last_but_one_ns_;
  leak.to_ns = last_ns_;
  found_.leaks.push_back(std::move(leak));
}

void LeakPass::SeeProcessEnd(const ProcessEvent& event) {
  found_.steps = std::max(found_.steps, step_);
  found_.source = std::max(found_.source, source_);
  if (step_ == 0) return;
  absl::flat_hash_map<Place, LeakCandidate> kept;
  for (const auto& [place, row] : rows_) {
    if (std::optional<LeakCandidate> found = Judge(place, row)) kept.emplace(place, *std::move(found));
  }
  if (!kept.empty()) TakeParts(kept);
  for (auto& [place, found] : kept) {
    found.leak.blocks = found.blocks;
    DescribeLeak(found.parts, state().dictionary(), found.leak);
    Add(std::move(found.leak), place.device, event.process);
  }
  if (!selects_blocks()) {
    for (const auto& [id, memory] : memory_) JudgeReserved(id, memory, event.process);
  }
}

Leaks LeakPass::Take() {
  std::ranges::sort(found_.leaks, [](const Leak& a, const Leak& b) {
    return std::tuple(b.bytes, a.line.file, a.line.line, a.device, a.operator_name, a.module, a.process) <
           std::tuple(a.bytes, b.line.file, b.line.line, b.device, b.operator_name, b.module, b.process);
  });
  return std::move(found_);
}

Task<absl::StatusOr<Leaks>> FindLeaks(SharedCategories& shared, Selection selection) {
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!categories.ok()) co_return categories.status();
  LeakPass pass(shared.capture(), selection, **categories);
  absl::StatusOr<ReplayReport> report = co_await shared.replays().Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  Leaks leaks = pass.Take();
  leaks.report = *std::move(report);
  co_return leaks;
}

}  // namespace memoir
