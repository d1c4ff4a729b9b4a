// Finds spans of repeated steps that a replay may collapse (Visitor::MostRepeats). A span consists of equal repeat
// groups. A CollapseFinder finds the spans in pattern rows. A CollapsedStepSpanCursor is the position of a replay in a
// span.
//
// A group belongs to a span if it has the patterns of the previous group, and if the live blocks after both groups
// correspond to each other.
//
//     steps  A B A B A B A B A B A B C      groups of two steps, A and B
//            visited collapsed-- visited
//
// The replay visits the groups before a span. They show that the groups repeat, and how one group changes the replay's
// counts. The replay also visits at least one group after the span, because later events may free the blocks of this
// group.
#ifndef TOOLS_MODEL_REPEATS_COLLAPSED_STEP_SPANS_H_
#define TOOLS_MODEL_REPEATS_COLLAPSED_STEP_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/ids.h"
#include "tools/model/repeats/pattern_row_addresses.h"
#include "tools/read/chunk/step_pattern.h"

namespace memoir {

// A span of equal groups, without the visited groups before and after it.
struct CollapsedStepSpan {
  std::size_t first = 0;   // first step of the span: its index in the result of FindSteps
  std::size_t period = 0;  // steps of one group
  std::size_t groups = 0;
  std::vector<LiveRowBlock> live_blocks;  // host blocks that are live when the span begins, and that the groups free
  // The next serial of each device when the span begins, by the number of the device.
  absl::flat_hash_map<std::uint32_t, std::uint64_t> serials;
};

class CollapseFinder {
 public:
  // `steps` must outlive this object. All arguments `step` are indices in `steps`.
  explicit CollapseFinder(const std::vector<StepRows>& steps);

  // Excludes the steps up to `step`, so that later steps are not compared with these steps.
  void BeginBehind(std::size_t step) { first_ = step + 1; }
  // Stores a hash of the blocks that are live after `step`. Call this function when `addresses` has taken all rows of
  // `step`, and no later rows.
  void NoteStep(std::size_t step, const PatternRowAddresses& addresses);
  // Returns the span that begins with `step`, and collapses the rows of the span in `addresses`. Call this function
  // when `addresses` has taken the rows before `step`, and no later rows. nullopt if no span begins with `step`.
  std::optional<CollapsedStepSpan> FindSpan(std::size_t step, PatternRowAddresses& addresses);

 private:
  // The state after a step. If it is equal after two groups, the live blocks correspond to each other.
  struct StateBehind {
    bool known = false;  // true: NoteStep has set this state
    std::size_t live_count = 0;
    std::uint64_t steps_back = 0, live_hash = 0;  // argument and result of PatternRowAddresses::HashLiveBlocks
    std::size_t others_freed = 0;                 // number of blocks freed so far that no row allocated
    bool operator==(const StateBehind&) const = default;
  };
  std::uint64_t StepsBack(std::size_t first_step, std::size_t end_step) const;
  // Returns true if `step` has the pattern of the step `period` steps earlier, and no step is missing between `step`
  // and the previous step.
  bool IsLike(std::size_t step, std::size_t period) const;
  bool IsSteady(std::size_t step, std::size_t period) const;
  std::optional<CollapsedStepSpan> FindWithPeriod(std::size_t period, std::size_t step, PatternRowAddresses& addresses);
  std::optional<CollapsedStepSpan> Collapse(std::size_t period, std::size_t step, std::size_t groups,
                                            std::size_t shown_behind, PatternRowAddresses& addresses);

  const std::vector<StepRows>& steps_;
  std::uint64_t work_ = 0;  // comparisons so far, bounded by kMostWork
  std::size_t first_ = 0;
  std::vector<StateBehind> behind_;  // by index of the step
};

// The position of a replay in a span. The replay collapses groups, or opens a group to visit its events.
class CollapsedStepSpanCursor {
 public:
  // Maps addresses of blocks: from the address that rows have for a block, to the address at which the replay shows it.
  // `renames` of the constructor contains the blocks that AddRenames of earlier spans added.
  using AddressRenames = absl::flat_hash_map<std::uint64_t, std::uint64_t>;
  CollapsedStepSpanCursor(const CollapsedStepSpan& span, const std::vector<PatternRow>& rows,
                          const std::vector<StepRows>& steps, const AddressRenames& renames);

  std::size_t groups_left() const { return span_->groups - group_; }
  std::size_t period() const { return span_->period; }
  // The next three functions describe a group. `group` is the number of the group, counted from the current group,
  // which is 0. FirstRow returns the first row of the group. End returns the tick at which the group ends. LastNumber
  // returns the program's number of the last step of the group.
  const PatternRow& FirstRow(std::size_t group) const { return RowOf(StepAt(group_ + group, 0).first_row); }
  Tick End(std::size_t group) const { return EndOf(StepAt(group_ + group, span_->period - 1)); }
  std::uint64_t LastNumber(std::size_t group) const {
    return RowOf(StepAt(group_ + group, span_->period - 1).first_row).step_number;
  }
  // Ticks returns the sum of the durations of all steps in `groups` groups, from the current group on. TicksBefore
  // returns this sum for the previous group.
  Tick Ticks(std::size_t groups) const { return TicksOf(group_ * span_->period, groups * span_->period); }
  Tick TicksBefore() const { return TicksOf((group_ - 1) * span_->period, span_->period); }
  // Returns the tick at which the previous group ends.
  Tick EndBefore() const { return EndOf((*steps_)[span_->first + group_ * span_->period - 1]); }
  const StepPattern& PatternOf(std::size_t step) const { return *StepAt(0, step).whole; }  // `step`: index in the group

  // Passes the next `groups` groups without visiting them.
  void Collapse(std::size_t groups);

  // Begins to visit the events of the current group.
  void Open() { opened_ = true; }
  bool opened() const { return opened_; }
  bool at_group() const { return step_ == 0 && row_ == 0; }  // true: row() is the first row of its group
  std::size_t row() const { return StepAt(group_, step_).first_row + row_; }  // current row of the open group
  void NextRow();
  // Returns the address and the serial of `event`, the next memory event of the open group. `index` is its index in the
  // pattern.
  EventAddress NextAddress(const PatternEvent& event, std::uint32_t index);

  // A live host block. `known` is the address by which rows after the span refer to the block. `shown` is the address
  // at which the replay shows it.
  struct ShownBlock {
    std::uint64_t known = 0, shown = 0;
    std::uint32_t device = 0;
  };
  std::vector<ShownBlock> LiveBlocks() const;
  // Adds to `renames` the blocks whose two addresses differ, and removes the other blocks. Call this function after the
  // last group.
  void AddRenames(AddressRenames& renames) const;

 private:
  const StepRows& StepAt(std::size_t group, std::size_t step) const {
    return (*steps_)[span_->first + group * span_->period + step];
  }
  const PatternRow& RowOf(std::size_t row) const { return (*rows_)[row]; }
  Tick TicksOf(std::size_t first_step, std::size_t steps) const;  // `first_step`: index in the span; sum modulo 2^64
  Tick EndOf(const StepRows& step) const {
    const PatternRow& last = RowOf(step.end_row() - 1);
    return last.first_tick + last.ticks;
  }

  const CollapsedStepSpan* span_;
  const std::vector<PatternRow>* rows_;
  const std::vector<StepRows>* steps_;
  std::size_t group_ = 0, step_ = 0, row_ = 0;  // row_: index in the step
  bool opened_ = false;
  std::uint64_t steps_opened_ = 0;  // number of steps of opened groups that were visited so far
  std::uint64_t step_before_ = 0;   // number of the last step before the span
  // Addresses of live blocks, by RowBlockId. The step number in this id counts only the steps of opened groups.
  absl::flat_hash_map<std::uint64_t, std::uint64_t> live_blocks_;
  // By device: the next serial, and the number of serials that one group uses.
  absl::flat_hash_map<std::uint32_t, std::uint64_t> serials_, serials_of_group_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_COLLAPSED_STEP_SPANS_H_
