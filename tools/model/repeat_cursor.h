// What rows stand for (docs/capture_format.md, "Stretches"), and how far that has been shown.
#ifndef TOOLS_MODEL_REPEAT_CURSOR_H_
#define TOOLS_MODEL_REPEAT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/chunk_source.h"
#include "tools/model/ids.h"
#include "tools/model/joined_rows.h"
#include "tools/model/repeat_places.h"
#include "tools/model/repeat_skips.h"

namespace memoir {

class RepeatCursor {
 public:
  // `skips`: cycles that may be passed over are found.
  RepeatCursor(JoinedRows joined, bool skips);
  RepeatCursor(const RepeatCursor&) = delete;
  RepeatCursor& operator=(const RepeatCursor&) = delete;

  bool memory_alone() const { return joined_.chunks().front().chunk->memory_alone; }  // Chunk::memory_alone
  bool done() const { return at_ == rows_.size() && next_step_ == steps_.size(); }
  // The chunk of which rows were left out, or do not fit what it gives for them; nullptr: none. Known once it is done.
  const Chunk* damaged() const { return damaged_ ? joined_.chunks()[*damaged_].chunk.get() : nullptr; }
  Tick tick() const { return tick_; }  // of the current event, or of the first of the skip

  // Before cycles that may be passed over: there is no event, until one of them is opened.
  bool at_skip() const { return walk_.has_value() && !walk_->opened(); }
  const SkipWalk& skip() const { return *walk_; }
  void Pass(std::size_t cycles);
  void OpenCycle();
  bool in_skip() const { return walk_.has_value(); }
  // At the first event of a cycle that is like those of the skip: the one before it, or one of the skip.
  bool at_cycle() const;

  // Of the current event.
  const StretchEvent& event() const { return joined_.stretches()[row()]->events[index()]; }
  std::uint64_t step_number() const { return of_row().step_number; }
  // Of a memory event. `serial`: of a host block whose address is not known, or that is freed, 0.
  std::uint64_t address() const { return event().of_host == 0 ? event().address : place_.address; }
  std::uint64_t serial() const { return place_.serial; }
  // The stack of the event's thread before its first event in these rows; nothing where it has had one.
  std::optional<std::uint32_t> TakeStartStack();
  void Advance();

 private:
  static constexpr std::size_t kNoSkip = ~std::size_t{0};
  static constexpr std::size_t kMostPlaced = 1u << 18;
  // One of the joined ones, or a skip.
  struct Row {
    std::size_t row = 0;
    std::size_t skip = kNoSkip;
    bool begins_cycle = false;
  };
  std::size_t row() const { return walk_ ? walk_->row() : rows_[at_].row; }
  const RepeatRow& of_row() const { return joined_.rows()[row()]; }
  std::size_t index() const { return of_row().first_event + index_; }
  void TakeSteps();
  bool TakeSkip();
  void EnterRow();
  void EnterEvent();
  void FindTick();

  const JoinedRows joined_;
  const std::vector<RowsOfStep> steps_;
  // Of as many chunks as fit into kMostPlaced, then of the next ones.
  std::vector<Row> rows_;
  std::vector<RepeatSkip> skips_;
  std::vector<RepeatPlace> placed_;  // memory events of all rows but those of skips
  RepeatPlaces places_;
  std::optional<SkipFinder> finder_;
  std::size_t next_step_ = 0, next_row_ = 0;
  struct StartStack {
    std::size_t first_row = 0;  // of its chunk
    std::uint32_t stack = 0;
  };
  absl::flat_hash_map<std::uint32_t, std::vector<StartStack>> start_stacks_;  // by thread
  std::optional<std::size_t> damaged_;                                        // chunk
  std::size_t at_ = 0, index_ = 0, memory_event_ = 0;
  Tick tick_ = 0;
  RepeatPlace place_;
  std::optional<SkipWalk> walk_;
  SkipWalk::Renamed renamed_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_CURSOR_H_
