// Lines of the program that keep more in every step: what each of them allocated in nearly all steps so far, and is
// still live when the newest step begins.
//
//     step          0    1    2    3    4    5  ◄ the newest
//     train.py:40   ■    ■    ■    ■    ■    ■    a list that only grows: a leak
//     train.py:72   ■                        ■    an optimizer's state, and this step's gradients
//     loader.py:9             ■    ■    ■    ■    a queue, or cycles until the garbage collector runs: what it freed
//                                                 was as old as what it has
//     cache.py:7    ■    ■    ■                   a cache that was filled
//
// A tensor that is replaced by a longer one, as caches of keys and values are, has no old blocks: of what torch.cat
// makes, the bytes of a line are compared from step to step as well. Likewise the reserved bytes of a caching
// allocator, which grow without the allocated ones where memory is fragmented.
//
// Looked at where steps begin (pass/steps.h), never at the end: an interpreter that ends frees what a program leaked.
#ifndef TOOLS_ANALYZE_LIVES_LEAKS_H_
#define TOOLS_ANALYZE_LIVES_LEAKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/leak.h"
#include "tools/analyze/lives/leak_trend.h"
#include "tools/analyze/pass/windowed_visitor.h"
#include "tools/model/capture.h"

namespace memoir {

struct Leaks {
  std::vector<Leak> leaks;        // most bytes first
  std::vector<LeakCause> causes;  // of AddCauses
  std::uint64_t steps = 0;        // that were looked at, of the process with most
  StepSource source = StepSource::kNone;
  ReplayReport report;
};

class LeakPass : public WindowedVisitor {
 public:
  LeakPass(const Capture& capture, const Selection& selection, const BlockCategories& categories)
      : WindowedVisitor(capture, selection), categories_(categories), lines_(selection.own) {}
  // After the replay.
  Leaks Take();
  bool takes_repeats() const override { return true; }

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void StepBegins(StepSource source, const Event& event) override;
  void SeeRepeated(const RepeatedEvent& event) override;  // leak_repeats.cc

 private:
  struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  // A line (a number of lines_), or where there is none an operator and a module; whether torch.cat made it, or a
  // library took it as its workspace at the first call of the line.
  struct Place {
    DeviceId device;
    std::uint32_t line = kNoLine;
    NameId operator_name;
    ModuleId module;
    bool joined = false;
    bool workspace = false;
    bool operator==(const Place&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Place& place) {
      return H::combine(std::move(hash), place.device.value, place.line, place.operator_name.value, place.module.value,
                        place.joined, place.workspace);
    }
  };
  static constexpr std::uint32_t kNoLine = 0xffffffffu;
  struct Row {
    std::map<std::uint64_t, Held> by_step;  // live, by the step that allocated it
    std::uint64_t bytes = 0;
    std::uint64_t oldest_freed = 0;  // steps that a block lived which is gone
    LevelSeries levels;              // of what torch.cat made
  };
  // Something allocated and not yet freed again in the step in hand: what both happens in is never looked at.
  struct New {
    Place place;
    LeakPart part;
    std::uint64_t bytes = 0;
    std::uint32_t slot = 0;
    bool live = true;
  };
  struct Known {
    Place place;
    LeakPart part;
    std::uint64_t bytes = 0;
    std::uint64_t step = 0;
    std::uint32_t at = 0;  // in new_, plus 1; 0: in its row
    bool counts = false;   // false: from before steps were counted so
  };
  // A row that leaks: its blocks of steps from `since` up to `until`, and what they are.
  struct Kept {
    Leak leak;
    std::uint64_t since = 0, until = 0;
    std::uint64_t blocks = 0;
    LeakParts parts;
  };
  struct Memory {
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
    LevelSeries reserved, allocated, peaks;
  };
  static std::size_t IndexOf(const Block& block) {  // in known_
    return block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1};
  }
  void Restart(StepSource source);
  void EndStep();
  void NoteLevels();
  void MoveTo(std::uint64_t step, Known& known);
  std::optional<Kept> Judge(const Place& place, const Row& row);
  void TakeParts(absl::flat_hash_map<Place, Kept>& kept) const;
  void JudgeReserved(DeviceId id, const Memory& memory, ProcessId process);
  void Add(Leak leak, DeviceId device, ProcessId process);

  const BlockCategories& categories_;
  SourceLines lines_;
  StepSource source_ = StepSource::kNone;  // the best so far: what counts as a step
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> numbers_;  // of steps, as the program counts them
  std::uint64_t newest_ns_ = 0;         // when the step in hand began, as the next two of those before it
  std::uint64_t last_ns_ = 0, last_but_one_ns_ = 0;
  bool frozen_ = false;  // the window is closed
  absl::flat_hash_map<Place, Row> rows_;
  std::vector<New> new_;
  std::vector<Known> gone_;   // freed in the step in hand
  std::vector<Known> known_;  // by Block::slot + 1
  std::map<DeviceId, Memory> memory_;
  Leaks found_;
};

// With the categories in a replay of their own.
absl::StatusOr<Leaks> AnalyzeLeaks(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAKS_H_
