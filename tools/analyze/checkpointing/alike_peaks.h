// The peaks of one device as they were and as they would be, for each group of modules that are alike. What a group
// would change moves seldom against what is live, so that each keeps only since when it stands.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_ALIKE_PEAKS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_ALIKE_PEAKS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/live_heights.h"

namespace memoir {

class AlikePeaks {
 public:
  struct Group {
    std::uint64_t freed = 0;  // bytes live now that would not be
    std::uint64_t held = 0;   // bytes not live now that would be: inputs of calls
    std::uint64_t kept = 0;   // bytes live now that calls made and checkpointing would give back some time
    std::uint64_t peak = 0;   // most that would be live in the window
    std::uint64_t kept_at_peak = 0;
    std::uint64_t again = 0;  // most bytes that one call makes again
    LiveHeights::Instant since = 0;
  };

  const LiveHeights& heights() const { return heights_; }
  std::uint64_t live() const { return heights_.live(); }
  std::uint64_t peak() const { return peak_; }
  Tick peak_tick() const { return peak_tick_; }
  bool peak_is_cut_off() const { return peak_is_cut_off_; }
  const std::vector<Group>& groups() const { return groups_; }

  // For a change of the group that comes with the next Change of what is live.
  Group& BeforeChange(AlikeNumber alike) { return Settled(alike, heights_.now() + 1); }
  // For a change by itself.
  Group& AtOnce(AlikeNumber alike) { return Settled(alike, heights_.now()); }
  void Change(std::uint64_t live, Tick tick) {
    heights_.Change(live);
    if (in_window_) NotePeak(tick);
  }
  // The group would reach `bytes` for a moment.
  void Touch(AlikeNumber alike, std::int64_t bytes) {
    Group& group = At(alike);
    if (in_window_) group.peak = std::max(group.peak, static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
  }
  // What began at `begin` ran out of memory: a peak since then is not all that it would have come to.
  void NoteCutOff(LiveHeights::Instant begin) { peak_is_cut_off_ |= in_window_ && peak_at_ >= begin; }

  void OpenWindow(Tick tick) {
    for (AlikeNumber alike = 0; alike < groups_.size(); ++alike) Settled(alike, heights_.now());
    in_window_ = true;
    NotePeak(tick);
  }
  void CloseWindow() {
    for (AlikeNumber alike = 0; alike < groups_.size(); ++alike) Settled(alike, heights_.now());
    in_window_ = false;
  }

 private:
  Group& At(AlikeNumber alike) {
    Group fresh;
    fresh.peak = peak_;  // so far it would have changed nothing
    fresh.since = heights_.now();
    if (alike >= groups_.size()) groups_.resize(alike + 1, fresh);
    return groups_[alike];
  }
  Group& Settled(AlikeNumber alike, LiveHeights::Instant next) {
    Group& group = At(alike);
    if (in_window_ && group.since <= heights_.now()) {
      const std::uint64_t most = heights_.MostSince(group.since) + group.held;
      group.peak = std::max(group.peak, most - std::min(most, group.freed));
      if (peak_at_ >= group.since) group.kept_at_peak = group.kept;
    }
    group.since = next;
    return group;
  }
  void NotePeak(Tick tick) {
    if (live() <= peak_) return;
    peak_ = live();
    peak_at_ = heights_.now();
    peak_tick_ = tick;
    peak_is_cut_off_ = false;
  }

  LiveHeights heights_;
  bool in_window_ = false;
  std::uint64_t peak_ = 0;
  LiveHeights::Instant peak_at_ = 0;
  Tick peak_tick_ = 0;
  bool peak_is_cut_off_ = false;
  std::vector<Group> groups_;  // by AlikeNumber
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_ALIKE_PEAKS_H_
