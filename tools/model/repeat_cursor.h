// What the rows of one chunk stand for (docs/capture_format.md, "Stretches"), and how far that has been shown.
#ifndef TOOLS_MODEL_REPEAT_CURSOR_H_
#define TOOLS_MODEL_REPEAT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/chunk_source.h"
#include "tools/model/ids.h"
#include "tools/model/repeat_places.h"
#include "tools/model/repeat_skips.h"
#include "tools/model/stretch_table.h"

namespace memoir {

class RepeatCursor {
 public:
  // Rows from the first on whose stretch is not known, or that does not fit it, are left out: `damaged` says so.
  // `skips`: cycles that may be passed over are found.
  RepeatCursor(std::shared_ptr<Chunk> chunk, StretchTable& stretches, bool skips);

  const Chunk& chunk() const { return *chunk_; }
  bool damaged() const { return damaged_; }
  bool done() const { return at_ == rows_.size(); }
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
  const StretchEvent& event() const { return stretches_[row()]->events[index()]; }
  std::uint64_t step_number() const { return of_row().step_number; }
  // Of a memory event. `serial`: of a host block whose address is not known, or that is freed, 0.
  std::uint64_t address() const { return event().of_host == 0 ? event().address : place_.address; }
  std::uint64_t serial() const { return place_.serial; }
  // The stack of the event's thread before its first event in these rows; nothing where it has had one.
  std::optional<std::uint32_t> TakeStartStack();
  void Advance();

 private:
  static constexpr std::size_t kNoSkip = ~std::size_t{0};
  // One of the chunk's, or a skip.
  struct Row {
    std::size_t row = 0;
    std::size_t skip = kNoSkip;
    bool begins_cycle = false;
  };
  const std::vector<RepeatRow>& rows_of_chunk() const { return chunk_->payload->repeats.rows; }
  std::size_t row() const { return walk_ ? walk_->row() : rows_[at_].row; }
  const RepeatRow& of_row() const { return rows_of_chunk()[row()]; }
  std::size_t index() const { return of_row().first_event + index_; }
  bool FindStretches(StretchTable& stretches);
  void TakeSteps(bool skips);
  void EnterRow();
  void EnterEvent();
  void FindTick();

  std::shared_ptr<Chunk> chunk_;
  StretchesOfRows stretches_;
  std::vector<RowsOfStep> steps_;
  std::vector<Row> rows_;
  std::vector<RepeatSkip> skips_;
  std::vector<RepeatPlace> placed_;                                 // memory events of all rows but those of skips
  absl::flat_hash_map<std::uint32_t, std::uint32_t> start_stacks_;  // by thread
  bool damaged_ = false;
  std::size_t at_ = 0, index_ = 0, memory_event_ = 0;
  Tick tick_ = 0;
  RepeatPlace place_;
  std::optional<SkipWalk> walk_;
  SkipWalk::Renamed renamed_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_CURSOR_H_
