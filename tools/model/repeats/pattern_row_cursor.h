// Iterates over the events that pattern rows represent (docs/capture_format.md, "Stretches"), with their ticks,
// addresses and serials.
#ifndef TOOLS_MODEL_REPEATS_PATTERN_ROW_CURSOR_H_
#define TOOLS_MODEL_REPEATS_PATTERN_ROW_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/ids.h"
#include "tools/model/parts/chunk_source.h"
#include "tools/model/repeats/collapsed_step_spans.h"
#include "tools/model/repeats/joined_pattern_rows.h"
#include "tools/model/repeats/pattern_row_addresses.h"

namespace memoir {

class PatternRowCursor {
 public:
  // If `collapses` is true, the cursor also finds groups that may be collapsed.
  PatternRowCursor(JoinedPatternRows joined, bool collapses);
  PatternRowCursor(const PatternRowCursor&) = delete;
  PatternRowCursor& operator=(const PatternRowCursor&) = delete;

  // Returns Chunk::is_skimmed, which is the same for all chunks of the rows.
  bool is_skimmed() const { return joined_.chunks().front().chunk->is_skimmed; }
  bool done() const { return at_ == rows_.size() && next_step_ == steps_.size(); }
  // Returns the chunk with invalid rows, or with addresses or serials that do not fit its rows. nullptr if no damage is
  // found so far. The result is final when done() is true.
  const Chunk* damaged_chunk() const { return damaged_ ? joined_.chunks()[*damaged_].chunk.get() : nullptr; }
  // Returns the tick of the current event. At groups that may be collapsed, returns the tick of the next group's first
  // event.
  Tick tick() const { return tick_; }

  // True at groups that may be collapsed. As long as it is true, there is no current event. Call Collapse() to pass
  // groups, or OpenGroup() to visit the events of the next group.
  bool at_collapsed_step_span() const { return span_cursor_.has_value() && !span_cursor_->opened(); }
  const CollapsedStepSpanCursor& collapsed_step_span() const { return *span_cursor_; }
  void Collapse(std::size_t groups);
  void OpenGroup();
  // True from the first to the last group of a span, also while the events of an opened group are visited.
  bool in_collapsed_step_span() const { return span_cursor_.has_value(); }
  // Returns true at the first event of a group that shows the effect of the collapsed groups, because it has the same
  // events. Such a group is the last group before a span, or a group of the span that OpenGroup() opened.
  bool at_group() const;

  // Returns the current event.
  const PatternEvent& event() const { return joined_.patterns()[row()]->events[index()]; }
  // Returns the program's number of the step that the current event begins. The current event must be a STEP event.
  std::uint64_t step_number() const { return pattern_row().step_number; }
  // Return the address and the serial of the current event, which must be a memory event. The serial is 0 at the free
  // of a host block, and at the allocation of a host block that is freed in these rows or whose address is unknown.
  std::uint64_t address() const { return event().of_host == 0 ? event().address : address_.address; }
  std::uint64_t serial() const { return address_.serial; }
  // At the first event of a thread in these rows, returns the Python stack that the thread had before this event.
  // nullopt at later events of the thread.
  std::optional<std::uint32_t> TakeStartStack();
  void Advance();

 private:
  static constexpr std::size_t kNoSpan = ~std::size_t{0};
  static constexpr std::size_t kMostAddresses = 1u << 18;
  // A joined row, or a span of collapsed groups.
  struct Row {
    std::size_t row = 0;         // the joined row, or the first row of the span
    std::size_t span = kNoSpan;  // index in spans_; kNoSpan: a joined row
    bool begins_group = false;   // true: the first row of the last group before a span
  };
  std::size_t row() const { return span_cursor_ ? span_cursor_->row() : rows_[at_].row; }
  const PatternRow& pattern_row() const { return joined_.rows()[row()]; }
  std::size_t index() const { return pattern_row().first_event + index_; }
  void TakeSteps();  // fills rows_ with the next batch
  bool TakeCollapsedStepSpan();
  void EnterRow();
  void EnterEvent();
  void FindTick();

  const JoinedPatternRows joined_;
  const std::vector<StepRows> steps_;
  // The rows of the current batch. A batch ends at the end of a chunk, once its rows have more than kMostAddresses
  // memory events.
  std::vector<Row> rows_;
  std::vector<CollapsedStepSpan> spans_;  // spans of the current batch, by Row::span
  std::vector<EventAddress> addresses_;   // one entry for each memory event of rows_
  PatternRowAddresses row_addresses_;
  std::optional<CollapseFinder> finder_;
  std::size_t next_step_ = 0, next_row_ = 0;  // the step and the row with which the next batch begins
  struct StartStack {
    std::size_t first_row = 0;  // first row of a chunk
    std::uint32_t stack = 0;
  };
  absl::flat_hash_map<std::uint32_t, std::vector<StartStack>> start_stacks_;  // by thread
  std::optional<std::size_t> damaged_;                                        // index of the damaged chunk
  // Position of the current event: its row in rows_, its index in the row, and its index in addresses_.
  std::size_t at_ = 0, index_ = 0, memory_event_ = 0;
  Tick tick_ = 0;
  EventAddress address_;
  std::optional<CollapsedStepSpanCursor> span_cursor_;
  CollapsedStepSpanCursor::AddressRenames renames_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_PATTERN_ROW_CURSOR_H_
