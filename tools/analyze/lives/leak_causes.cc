#include "tools/analyze/lives/leak_causes.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

bool IsOfGraph(const Leak& leak) {
  const HolderKind holder = HolderOf(leak);
  return holder == HolderKind::kGraph || holder == HolderKind::kUnusedGraph || holder == HolderKind::kRetainedGraph;
}

// Returns true if an autograd graph may hold the blocks of the leak. A graph may also hold inputs, but no rule of
// categories shows whether it does, so all inputs count.
bool MayBeOfGraph(const Leak& leak) {
  if (leak.kind != Leak::Kind::kKept || leak.categories.empty()) return false;
  return IsOfGraph(leak) || Rules()[leak.categories.front().rule].kept == Category::kInput;
}

// The process, device, first step and number of steps of a leak. Leaks may have one cause only if these are equal.
using Alike = std::tuple<ProcessId, std::string, std::uint64_t, std::uint64_t>;
Alike AlikeOf(const Leak& leak) { return {leak.process, leak.device, leak.since_step, leak.steps}; }

// Returns the indices of leaks that may have one cause, in groups of at least two.
std::map<Alike, std::vector<std::size_t>> Candidates(const std::vector<Leak>& leaks) {
  std::map<Alike, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < leaks.size(); ++i) {
    if (MayBeOfGraph(leaks[i])) groups[AlikeOf(leaks[i])].push_back(i);
  }
  std::erase_if(groups, [&](const auto& group) {
    return group.second.size() < 2 ||
           std::ranges::none_of(group.second, [&](std::size_t i) { return IsOfGraph(leaks[i]); });
  });
  return groups;
}

// The blocks that one step allocated, grouped into sets: blocks that operators computed from each other are in one set.
class StepFlow : public Visitor {
 public:
  StepFlow(const Leak& leak, std::string_view own)
      : process_(leak.process),
        device_(leak.device),
        from_ns_(leak.from_ns),
        to_ns_(leak.to_ns),
        newest_step_ns_(leak.ns),
        lines_(own) {}

  struct FlowBlock {
    SourceLine line;
    std::string operator_name, module;
    std::size_t set = 0;  // index in made() of another block of the same set, or its own
    bool forward = true;  // allocated in forward, or in Phase::kOther
    bool kept = true;     // still live when the newest step began
  };
  const std::vector<FlowBlock>& made() const { return made_; }
  std::size_t SetOf(std::size_t at) {
    while (made_[at].set != at) at = made_[at].set = made_[made_[at].set].set;
    return at;
  }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnRangeBegin(const RangeBeginEvent& event) override {
    if (!IsInStep(event)) return;
    std::size_t set = kNone;
    for (const Tensor& tensor : event.tensors) set = Join(set, At(tensor));
    if (set != kNone) open_[event.range->call] = set;
  }
  void OnRangeEnd(const RangeEndEvent& event) override {
    const auto open = open_.find(event.range->call);
    if (open == open_.end()) return;
    for (const Tensor& tensor : event.tensors) Join(open->second, At(tensor));
    open_.erase(open);
  }
  void OnAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    if (event.before || !IsInStep(event) || ToString(state_->dictionary().device(block.device)) != device_) return;
    const std::size_t at = made_.size();
    FlowBlock made;
    made.set = at;
    if (const StackId stack = block.line_callstack(); stack.valid()) {
      const std::uint32_t line = lines_.NumberOf(stack, state_->dictionary());
      made.line = SourceLineOf(lines_.FrameOf(line), state_->dictionary());
    }
    made.forward = block.phase == Phase::kForward || block.phase == Phase::kOther;
    made.operator_name = state_->dictionary().text(block.operator_name);
    if (block.module.valid()) made.module = state_->dictionary().module(block.module).display_path();
    made_.push_back(std::move(made));
    live_[block.ordinal] = at;
    if (event.stack == nullptr) return;
    for (const OpenRange& range : *event.stack) {
      if (const auto open = open_.find(range.call); open != open_.end()) Join(open->second, at);
    }
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    const auto live = live_.find(event.block->ordinal);
    if (live == live_.end() || state_->Nanoseconds(event.process, event.tick) >= newest_step_ns_) return;
    made_[live->second].kept = false;
    live_.erase(live);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  bool IsInStep(const Event& event) const {
    if (event.process != process_) return false;
    const std::uint64_t ns = state_->Nanoseconds(event.process, event.tick);
    return from_ns_ <= ns && ns < to_ns_;
  }
  // Returns the index in made_ of the tensor's block. kNone if the step did not allocate the block.
  std::size_t At(const Tensor& tensor) const {
    if (tensor.storage == 0) return kNone;
    const Block* const block = state_->LiveBlockAt(tensor.device, tensor.storage);
    const auto live = block == nullptr ? live_.end() : live_.find(block->ordinal);
    return live == live_.end() ? kNone : live->second;
  }
  // Merges the sets of two blocks. Returns the merged set. If one argument is kNone, returns the other.
  std::size_t Join(std::size_t one, std::size_t other) {
    if (one == kNone || other == kNone) return one == kNone ? other : one;
    const std::size_t first = SetOf(one), second = SetOf(other);
    made_[std::max(first, second)].set = std::min(first, second);
    return std::min(first, second);
  }

  const ProcessId process_;
  const std::string device_;
  const std::uint64_t from_ns_, to_ns_, newest_step_ns_;
  SourceLines lines_;
  const ReplayState* state_ = nullptr;
  std::vector<FlowBlock> made_;
  absl::flat_hash_map<std::uint64_t, std::size_t> live_;  // index in made_, by Block::ordinal
  // For each open range, by OpenRange::call: index in made_ of a block in the set to which its arguments belong.
  absl::flat_hash_map<std::uint64_t, std::size_t> open_;
};

bool IsOf(const StepFlow::FlowBlock& made, const Leak& leak) {
  if (leak.line.known()) return made.line == leak.line;
  return !made.line.known() && made.operator_name == leak.operator_name && made.module == leak.module;
}

// Adds a cause for each set that contains blocks of at least two leaks of `group`, if a graph holds the blocks of at
// least one of these leaks.
void AddCausesOf(const std::vector<Leak>& leaks, const std::vector<std::size_t>& group, StepFlow& flow,
                 std::vector<LeakCause>& causes) {
  std::map<std::size_t, LeakCause> by_set;
  std::vector<bool> placed(leaks.size());
  for (std::size_t at = 0; at < flow.made().size(); ++at) {
    const StepFlow::FlowBlock& made = flow.made()[at];
    if (!made.forward) continue;
    LeakCause& cause = by_set[flow.SetOf(at)];
    cause.last_result = {made.line, made.operator_name};
    if (!made.kept) continue;
    cause.last_kept = cause.last_result;
    for (const std::size_t i : group) {
      if (placed[i] || !IsOf(made, leaks[i])) continue;
      placed[i] = true;
      cause.leaks.push_back(i);
    }
  }
  for (auto& [set, cause] : by_set) {
    if (cause.leaks.size() < 2 || std::ranges::none_of(cause.leaks, [&](std::size_t i) { return IsOfGraph(leaks[i]); }))
      continue;
    std::ranges::sort(cause.leaks);
    causes.push_back(std::move(cause));
  }
}

// Returns the variable of a holder, with the variable's attributes and place, but without items. For the holder
// "t.seen[…][…] (tuple, global of train.py)", returns "t.seen (global of train.py)".
std::string VariableOf(std::string_view holder) {
  constexpr std::string_view kItem = "[\xe2\x80\xa6]", kNotes = " (", kNextNote = ", ";
  const std::string_view root = RootOf(holder);
  const std::size_t notes = root.find(kNotes);
  std::string_view variable = root.substr(0, notes);
  while (variable.ends_with(kItem)) variable.remove_suffix(kItem.size());
  if (notes == std::string_view::npos) return std::string(variable);
  std::string_view place = root.substr(notes + kNotes.size());
  if (const std::size_t last = place.rfind(kNextNote); last != std::string_view::npos)
    place.remove_prefix(last + kNextNote.size());
  return std::string(variable) + std::string(kNotes) + std::string(place);
}

}  // namespace

Task<absl::Status> AddLeakCauses(JointReplays& replays, const Selection& selection, Leaks& leaks) {
  leaks.causes.clear();
  const std::map<Alike, std::vector<std::size_t>> groups = Candidates(leaks.leaks);
  if (groups.empty()) co_return absl::OkStatus();
  std::deque<StepFlow> flows;  // one for each entry of `groups`, in this order
  std::vector<Visitor*> visitors;
  for (const auto& [alike, group] : groups)
    visitors.push_back(&flows.emplace_back(leaks.leaks[group.front()], selection.own));
  VisitorGroup all(visitors);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(all, {.tensors = true, .modules = true});
  if (!report.ok()) co_return report.status();
  std::size_t at = 0;
  for (const auto& [alike, group] : groups) AddCausesOf(leaks.leaks, group, flows[at++], leaks.causes);
  co_return absl::OkStatus();
}

void AddCausesByHolder(const LeakHolders& holders, Leaks& leaks) {
  std::map<std::tuple<Alike, Leak::Kind, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < holders.all.size(); ++i) {
    if (holders.all[i].empty()) continue;
    const Leak& leak = leaks.leaks[i];
    const std::string variable = VariableOf(holders.all[i].front().name);
    if (!variable.empty()) groups[{AlikeOf(leak), leak.kind, variable}].push_back(i);
  }
  for (const auto& [key, group] : groups) {
    if (std::ranges::any_of(leaks.causes,
                            [&](const LeakCause& cause) { return std::ranges::includes(cause.leaks, group); }))
      continue;
    std::erase_if(leaks.causes, [&](const LeakCause& cause) { return std::ranges::includes(group, cause.leaks); });
    LeakCause held;
    held.leaks = group;
    for (const LeakCause& cause : leaks.causes)
      std::erase_if(held.leaks, [&](std::size_t i) { return std::ranges::binary_search(cause.leaks, i); });
    if (held.leaks.size() < 2) continue;
    held.variable = std::get<std::string>(key);
    leaks.causes.push_back(std::move(held));
  }
}

}  // namespace memoir
