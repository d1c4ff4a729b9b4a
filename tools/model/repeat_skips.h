// Cycles of whole steps in rows that leave behind what was before them, but for which blocks it is: a
// replay may pass over them (Visitor::MostRepeats).
//
//     steps  A B A B A B A B A B A B C      a cycle of two steps; the first two cycles are shown, so that it is known
//            shown-- passed over- shown     what one changes, and the last, whose blocks others may free
#ifndef TOOLS_MODEL_REPEAT_SKIPS_H_
#define TOOLS_MODEL_REPEAT_SKIPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/ids.h"
#include "tools/model/repeat_places.h"
#include "tools/read/stretch.h"

namespace memoir {

// Of the steps of StepsOf.
struct RepeatSkip {
  std::size_t first = 0;
  std::size_t period = 0;  // steps of a cycle
  std::size_t cycles = 0;
  std::vector<LivingBlock> living;  // before the first
  absl::flat_hash_map<std::uint32_t, std::uint64_t> serials;
};

class SkipFinder {
 public:
  explicit SkipFinder(const std::vector<RowsOfStep>& steps);

  // Steps up to this one are none that others are like.
  void BeginBehind(std::size_t step) { first_ = step + 1; }
  // `places` has taken the step.
  void Note(std::size_t step, const RepeatPlaces& places);
  // That begins with the step, which comes next: `places` have passed over it then.
  std::optional<RepeatSkip> Find(std::size_t step, RepeatPlaces& places);

 private:
  struct Behind {
    bool known = false;  // a whole step, which is shown
    std::size_t living = 0;
    std::uint64_t steps_back = 0, hash_of_living = 0;
    std::size_t others_freed = 0;
    bool operator==(const Behind&) const = default;
  };
  std::uint64_t StepsBack(std::size_t first_step, std::size_t end_step) const;
  bool IsLike(std::size_t step, std::size_t period) const;  // as the one so many before, and just behind one
  bool IsSteady(std::size_t step, std::size_t period) const;
  std::optional<RepeatSkip> FindOf(std::size_t period, std::size_t step, RepeatPlaces& places);
  std::optional<RepeatSkip> PassOver(std::size_t period, std::size_t step, std::size_t cycles, std::size_t shown_behind,
                                     RepeatPlaces& places);

  const std::vector<RowsOfStep>& steps_;
  std::uint64_t work_ = 0;  // done in vain; a chunk of the recorder's makes little
  std::size_t first_ = 0;
  std::vector<Behind> behind_;  // by step
};

// Where a replay is in a skip: it passes over cycles, or opens one to show its events.
class SkipWalk {
 public:
  // `renamed`: see Rename.
  using Renamed = absl::flat_hash_map<std::uint64_t, std::uint64_t>;
  SkipWalk(const RepeatSkip& skip, const std::vector<RepeatRow>& rows, const std::vector<RowsOfStep>& steps,
           const Renamed& renamed);

  std::size_t cycles_left() const { return skip_->cycles - cycle_; }
  std::size_t period() const { return skip_->period; }
  // Of the n-th cycle from the next on; of its last step.
  const RepeatRow& FirstRow(std::size_t cycle) const { return RowOf(StepAt(cycle_ + cycle, 0).first_row); }
  Tick End(std::size_t cycle) const { return EndOf(StepAt(cycle_ + cycle, skip_->period - 1)); }
  std::uint64_t LastNumber(std::size_t cycle) const {
    return RowOf(StepAt(cycle_ + cycle, skip_->period - 1).first_row).step_number;
  }
  // That steps took: those of so many cycles, and of the one before.
  Tick Ticks(std::size_t cycles) const { return TicksOf(cycle_ * skip_->period, cycles * skip_->period); }
  Tick TicksBefore() const { return TicksOf((cycle_ - 1) * skip_->period, skip_->period); }
  Tick EndBefore() const { return EndOf((*steps_)[skip_->first + cycle_ * skip_->period - 1]); }  // of the step before
  const Stretch& StretchOf(std::size_t step) const { return *StepAt(0, step).whole; }             // of a cycle

  void Pass(std::size_t cycles);

  void Open() { opened_ = true; }
  bool opened() const { return opened_; }
  bool at_cycle() const { return step_ == 0 && row_ == 0; }
  std::size_t row() const { return StepAt(cycle_, step_).first_row + row_; }  // that is open
  void NextRow();
  // Of the events of rows that are open, one after the other.
  RepeatPlace Place(const StretchEvent& event, std::uint32_t index);

  // The host blocks that live, with the address that the rows behind the skip know, and that at which they are shown.
  struct Shown {
    std::uint64_t known = 0, shown = 0;
    std::uint32_t device = 0;
  };
  std::vector<Shown> Living() const;
  // Adds what differs. Behind the last cycle.
  void Rename(Renamed& renamed) const;

 private:
  const RowsOfStep& StepAt(std::size_t cycle, std::size_t step) const {
    return (*steps_)[skip_->first + cycle * skip_->period + step];
  }
  const RepeatRow& RowOf(std::size_t row) const { return (*rows_)[row]; }
  Tick TicksOf(std::size_t first_step, std::size_t steps) const;  // counted from the skip's first, modulo 2^64
  Tick EndOf(const RowsOfStep& step) const {
    const RepeatRow& last = RowOf(step.end_row() - 1);
    return last.first_tick + last.ticks;
  }

  const RepeatSkip* skip_;
  const std::vector<RepeatRow>* rows_;
  const std::vector<RowsOfStep>* steps_;
  std::size_t cycle_ = 0, step_ = 0, row_ = 0;  // row_: of the step
  bool opened_ = false;
  std::uint64_t steps_opened_ = 0;
  std::uint64_t step_before_ = 0;                             // that of the rows, before the skip
  absl::flat_hash_map<std::uint64_t, std::uint64_t> living_;  // addresses, by BlockOfRow as if nothing was passed over
  absl::flat_hash_map<std::uint32_t, std::uint64_t> serials_, serials_of_cycle_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_SKIPS_H_
