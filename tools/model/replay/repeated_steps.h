// Visits or collapses the repeated steps that chunks store as pattern rows (pattern_row_cursor.h).
#ifndef TOOLS_MODEL_REPLAY_REPEATED_STEPS_H_
#define TOOLS_MODEL_REPLAY_REPEATED_STEPS_H_

#include <deque>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/repeats/joined_pattern_rows.h"
#include "tools/model/repeats/pattern_row_cursor.h"
#include "tools/model/repeats/shown_repeat_group.h"
#include "tools/model/repeats/step_pattern_table.h"
#include "tools/model/replay/pattern_row_events.h"
#include "tools/model/replay/replay_handlers.h"

namespace memoir {

class RepeatedSteps {
 public:
  explicit RepeatedSteps(ReplayHandlers& handlers)
      : context_(handlers.shared.context),
        matching_blocks_(handlers.shared.matching_blocks),
        blocks_(handlers.shared.blocks),
        events_(handlers) {}

  // Adds the pattern rows of consecutive chunks. If `joins` is true, rows of several chunks may be joined
  // (joined_pattern_rows.h). This requires that no event was lost.
  void Add(absl::Span<const std::shared_ptr<Chunk>> chunks, bool joins);
  // Call this function when a part begins. Each part defines its own patterns.
  void ForgetPatterns() { patterns_.Clear(); }

  bool empty() const { return cursors_.empty(); }  // true: all rows were visited
  // Returns the tick of the next event in rows. kForever if all rows were visited.
  Tick NextTick() const { return cursors_.empty() ? kForever : cursors_.front().tick(); }
  // Visits or collapses the rows up to `until`.
  void Show(Tick until);
  // Called when the replay visits an event that is not in pattern rows.
  void Interrupt() { group_.Interrupt(); }

 private:
  void AddJoined(JoinedPatternRows joined);
  void ReportDamage(const PatternRowCursor& cursor);
  void ShowEvent(PatternRowCursor& cursor, Tick until);
  void CollapseOrOpen(PatternRowCursor& cursor, Tick until);
  void EndGroup(const CollapsedStepSpanCursor& span);
  RepeatedEvent EventOf(const CollapsedStepSpanCursor& span, std::size_t times) const;
  void Collapse(PatternRowCursor& cursor, RepeatedEvent& event);
  std::vector<const Block*> MoveBlocks(const PatternRowCursor& cursor, Tick ticks);
  ReplayCounts CountsNow() const;

  ReplayContext& context_;
  MatchingBlocks& matching_blocks_;
  LiveBlocks& blocks_;
  PatternRowEvents events_;
  StepPatternTable patterns_;             // step patterns of the current part
  std::deque<PatternRowCursor> cursors_;  // rows that are not visited yet, in order
  ShownRepeatGroup group_;                // the last visited group of pattern rows
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_REPEATED_STEPS_H_
