// The recorded peak of a device, and for each group of alike modules the peak with checkpointing. The figures of a
// group change rarely. So each group stores the instant since which its figures are unchanged. When they change, or
// when the selection begins or ends, the group's peak is updated for the time since that instant. Touch() raises the
// group's peak directly.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTED_PEAKS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTED_PEAKS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/peak_history.h"

namespace memoir {

class CheckpointedPeaks {
 public:
  struct Group {
    std::uint64_t freed = 0;         // bytes that are live now, and would be free with checkpointing
    std::uint64_t held = 0;          // bytes of inputs that are free now, and would be live with checkpointing
    std::uint64_t kept = 0;          // bytes of live blocks that checkpointing would free at some time of their life
    std::uint64_t peak = 0;          // most live bytes with checkpointing, in the selection
    std::uint64_t kept_at_peak = 0;  // `kept` at the recorded peak
    std::uint64_t again = 0;         // most bytes that one call recomputes
    PeakHistory::Instant since = 0;  // instant since which the figures are unchanged
  };

  const PeakHistory& history() const { return history_; }
  std::uint64_t live() const { return history_.live(); }
  std::uint64_t peak() const { return peak_; }
  Tick peak_tick() const { return peak_tick_; }
  bool peak_is_cut_off() const { return peak_is_cut_off_; }
  const std::vector<Group>& groups() const { return groups_; }

  // Returns the group, for a change of its figures together with a change of the live bytes. The caller must then call
  // Change().
  Group& GroupBeforeChange(AlikeNumber alike) { return SettleGroup(alike, history_.now() + 1); }
  // Returns the group, for a change of its figures while the live bytes stay the same.
  Group& GroupNow(AlikeNumber alike) { return SettleGroup(alike, history_.now()); }
  // Notes that the device has `live` live bytes from now on.
  void Change(std::uint64_t live, Tick tick) {
    history_.Change(live);
    if (in_window_) NotePeak(tick);
  }
  // Notes that the device would have `bytes` live bytes now if the group were checkpointed.
  void Touch(AlikeNumber alike, std::int64_t bytes) {
    Group& group = FindGroup(alike);
    if (in_window_) group.peak = std::max(group.peak, static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
  }
  // Notes that a call that began at `begin` ran out of memory. If the peak was reached during this call, the recorded
  // peak is too low.
  void NoteCutOff(PeakHistory::Instant begin) { peak_is_cut_off_ |= in_window_ && peak_at_ >= begin; }

  void OpenWindow(Tick tick) {
    for (AlikeNumber alike = 0; alike < groups_.size(); ++alike) SettleGroup(alike, history_.now());
    in_window_ = true;
    NotePeak(tick);
  }
  void CloseWindow() {
    for (AlikeNumber alike = 0; alike < groups_.size(); ++alike) SettleGroup(alike, history_.now());
    in_window_ = false;
  }

 private:
  Group& FindGroup(AlikeNumber alike) {
    Group fresh;
    fresh.peak = peak_;  // so far checkpointing makes no difference
    fresh.since = history_.now();
    if (alike >= groups_.size()) groups_.resize(alike + 1, fresh);
    return groups_[alike];
  }
  Group& SettleGroup(AlikeNumber alike, PeakHistory::Instant next) {
    Group& group = FindGroup(alike);
    if (in_window_ && group.since <= history_.now()) {
      const std::uint64_t most = history_.MostSince(group.since) + group.held;
      group.peak = std::max(group.peak, most - std::min(most, group.freed));
      if (peak_at_ >= group.since) group.kept_at_peak = group.kept;
    }
    group.since = next;
    return group;
  }
  void NotePeak(Tick tick) {
    if (live() <= peak_) return;
    peak_ = live();
    peak_at_ = history_.now();
    peak_tick_ = tick;
    peak_is_cut_off_ = false;
  }

  PeakHistory history_;
  bool in_window_ = false;
  std::uint64_t peak_ = 0;
  PeakHistory::Instant peak_at_ = 0;
  Tick peak_tick_ = 0;
  bool peak_is_cut_off_ = false;
  std::vector<Group> groups_;  // by AlikeNumber
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTED_PEAKS_H_
