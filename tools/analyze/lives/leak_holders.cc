#include "tools/analyze/lives/leak_holders.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/model/holder_note.h"

namespace memoir {
namespace {

class HolderPass : public Visitor {
 public:
  HolderPass(const std::vector<Leak>& leaks, std::string_view own) : leaks_(leaks), lines_(own), sums_(leaks.size()) {}

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnAllocate(const AllocateEvent& event) override {
    const Block& block = *event.block;
    if (event.before) return;
    for (const std::size_t i : CandidatesFor(block)) {
      const Leak& leak = leaks_[i];
      if (leak.process != event.process || Nanoseconds(event) >= EndOf(leak) ||
          leak.device != ToString(state_->dictionary().device(block.device)))
        continue;
      live_[block.ordinal] = {i, block.bytes, Nanoseconds(event), std::nullopt};
    }
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    const auto live = live_.find(event.block->ordinal);
    if (live == live_.end()) return;
    if (Nanoseconds(event) >= leaks_[live->second.leak].ns) Count(live->second);
    live_.erase(live);
  }
  void OnMark(const MarkEvent& event) override {
    const std::optional<HolderNote> note = ParseHolderNote(state_->dictionary().text(event.name));
    if (!note) return;
    looked_ = true;
    const auto [number, fresh] = numbers_.try_emplace(std::string(note->holder), names_.size());
    if (fresh) names_.emplace_back(note->holder);
    for (const std::uint64_t address : note->addresses) {
      for (std::uint32_t device = 0; device < state_->dictionary().devices(); ++device) {
        const Block* const block = state_->LiveBlockAt(DeviceId(device), address);
        const auto live = block == nullptr ? live_.end() : live_.find(block->ordinal);
        if (live == live_.end()) continue;
        // At the end of a program its local variables are gone. So a holder that was found before the newest step began
        // is better.
        if (!live->second.holder || Nanoseconds(event) < leaks_[live->second.leak].ns)
          live->second.holder = number->second;
      }
    }
  }
  void OnProcessEnd(const ProcessEvent& /*event*/) override {
    for (const auto& [ordinal, live] : live_) Count(live);
    live_.clear();
  }

  LeakHolders Take() const {
    LeakHolders found{looked_, std::vector<std::vector<LeakHolder>>(leaks_.size())};
    for (std::size_t i = 0; i < leaks_.size(); ++i) {
      std::vector<LeakHolder>& holders = found.all[i];
      Sum all;
      for (const auto& [number, sum] : sums_[i]) {
        all.first_ns = std::min(all.first_ns, sum.first_ns);
        all.last_ns = std::max(all.last_ns, sum.last_ns);
      }
      for (const auto& [number, sum] : sums_[i]) {
        // If one line of the program runs the whole training, blocks that do not grow, such as an optimizer's state,
        // have the same line. Such blocks are allocated in the first step, so a holder that holds no other blocks is
        // left out.
        const bool in_first_step = sum.last_ns - all.first_ns < (all.last_ns - all.first_ns) / leaks_[i].steps;
        if (in_first_step && leaks_[i].kind == Leak::Kind::kKept) continue;
        holders.push_back(sum.holder);
        holders.back().name = names_[number];
      }
      std::ranges::sort(holders, [](const LeakHolder& a, const LeakHolder& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
      });
    }
    return found;
  }

 private:
  struct LiveBlock {
    std::size_t leak = 0;
    std::uint64_t bytes = 0;
    std::uint64_t since_ns = 0;
    std::optional<std::size_t> holder;
  };
  // The blocks of a leak that one holder holds, and when the first and the last of these blocks were allocated.
  struct Sum {
    LeakHolder holder;
    std::uint64_t first_ns = UINT64_MAX, last_ns = 0;
  };
  std::uint64_t Nanoseconds(const Event& event) const { return state_->Nanoseconds(event.process, event.tick); }
  void Count(const LiveBlock& live) {
    if (!live.holder) return;
    Sum& sum = sums_[live.leak][*live.holder];
    sum.holder.bytes += live.bytes;
    ++sum.holder.blocks;
    sum.first_ns = std::min(sum.first_ns, live.since_ns);
    sum.last_ns = std::max(sum.last_ns, live.since_ns);
  }
  // Returns the end of the last step whose blocks count. Except for kReplaced, the newest complete step does not
  // count, because the next step may free its blocks.
  static std::uint64_t EndOf(const Leak& leak) { return leak.kind == Leak::Kind::kReplaced ? leak.ns : leak.to_ns; }
  // Returns the leaks that have the line of the block or, if the line is unknown, its operator and module. The leaks
  // may belong to other processes and devices.
  std::vector<std::size_t> CandidatesFor(const Block& block) {
    const StackId stack = block.line_callstack();
    if (!stack.valid()) return AlikeLeaks(block);
    const std::uint32_t number = lines_.NumberOf(stack, state_->dictionary());
    const auto [at, fresh] = by_line_.try_emplace(number);
    if (!fresh) return at->second;
    const SourceLine line = SourceLineOf(lines_.FrameOf(number), state_->dictionary());
    for (std::size_t i = 0; i < leaks_.size(); ++i) {
      if (leaks_[i].kind != Leak::Kind::kFragmentation && leaks_[i].line == line) at->second.push_back(i);
    }
    return at->second;
  }
  // Returns the leaks without a line that have the operator and the module of the block.
  std::vector<std::size_t> AlikeLeaks(const Block& block) const {
    std::vector<std::size_t> alike;
    for (std::size_t i = 0; i < leaks_.size(); ++i) {
      const Leak& leak = leaks_[i];
      if (leak.kind != Leak::Kind::kFragmentation && !leak.line.known() &&
          leak.operator_name == state_->dictionary().text(block.operator_name) &&
          leak.module == (block.module.valid() ? state_->dictionary().module(block.module).display_path() : ""))
        alike.push_back(i);
    }
    return alike;
  }

  const std::vector<Leak>& leaks_;
  SourceLines lines_;
  const ReplayState* state_ = nullptr;
  bool looked_ = false;
  absl::flat_hash_map<std::uint32_t, std::vector<std::size_t>> by_line_;  // leaks, by the number of a line in lines_
  absl::flat_hash_map<std::uint64_t, LiveBlock> live_;                    // by Block::ordinal
  std::vector<std::string> names_;                                        // names of holders
  absl::flat_hash_map<std::string, std::size_t> numbers_;                 // index in names_, by name
  std::vector<std::map<std::size_t, Sum>> sums_;  // for each leak: the sums of its holders, by index in names_
};

}  // namespace

Task<absl::StatusOr<LeakHolders>> FindLeakHolders(JointReplays& replays, const Selection& selection,
                                                  const Leaks& leaks) {
  if (leaks.leaks.empty()) co_return LeakHolders();
  HolderPass pass(leaks.leaks, selection.own);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  co_return pass.Take();
}

Task<absl::StatusOr<LeakAnswer>> AnalyzeLeaks(SharedCategories& shared, Selection selection) {
  LeakAnswer answer;
  absl::StatusOr<Leaks> leaks = co_await FindLeaks(shared, selection);
  if (!leaks.ok()) co_return leaks.status();
  answer.leaks = *std::move(leaks);
  Task<absl::Status> add_causes = AddLeakCauses(shared.replays(), selection, answer.leaks);
  absl::StatusOr<LeakHolders> holders = co_await FindLeakHolders(shared.replays(), selection, answer.leaks);
  if (const absl::Status causes = co_await std::move(add_causes); !causes.ok()) co_return causes;
  if (!holders.ok()) co_return holders.status();
  answer.holders = *std::move(holders);
  AddCausesByHolder(answer.holders, answer.leaks);
  co_return answer;
}

absl::StatusOr<LeakAnswer> AnalyzeLeaks(const Capture& capture, const Selection& selection) {
  JointReplays replays(capture, selection);
  SharedCategories categories(replays);
  return replays.Finish(AnalyzeLeaks(categories, selection));
}

}  // namespace memoir
