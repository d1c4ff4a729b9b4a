// Finds lines that keep more memory in every step: when the newest step begins, blocks of nearly all steps are live.
//
//     step          0    1    2    3    4    5  ◄ the newest
//     train.py:40   ■    ■    ■    ■    ■    ■    a list that only grows: a leak
//     train.py:72   ■                        ■    an optimizer's state, and this step's gradients
//     loader.py:9             ■    ■    ■    ■    a queue, or reference cycles until the garbage collector runs: the
//                                                 freed blocks were as old as the live blocks are
//     cache.py:7    ■    ■    ■                   a cache that was filled
//
// A tensor that each step replaces by a longer tensor, such as a cache of keys and values, has no old blocks. So the
// live bytes of lines with torch.cat are compared from step to step, and so are reserved bytes, which grow if memory is
// fragmented. All figures are taken when steps begin (step_counter.h): an interpreter that ends frees leaked objects.
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
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/leak.h"
#include "tools/analyze/lives/leak_trend.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/model/capture.h"

namespace memoir {

struct Leaks {
  std::vector<Leak> leaks;        // most bytes first
  std::vector<LeakCause> causes;  // set by AddLeakCauses
  std::uint64_t steps = 0;        // number of examined steps; the largest of all processes
  StepSource source = StepSource::kNone;
  ReplayReport report;
};

// Finds the leaks of all processes, without their causes.
class LeakPass : public WindowedVisitor {
 public:
  LeakPass(const Capture& capture, const Selection& selection, const BlockCategories& categories)
      : WindowedVisitor(capture, selection), categories_(categories), lines_(selection.own) {}
  Leaks Take();  // call it after the replay
  bool takes_repeats() const override { return true; }

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeStepBegin(StepSource source, const Event& event) override;
  void SeeRepeated(const RepeatedEvent& event) override;  // leak_pass_repeats.cc

 private:
  struct StepSum {
    std::uint64_t bytes = 0, blocks = 0;
  };
  // The place in the program that allocated blocks: a line, by its number in lines_; if the line is unknown, an
  // operator and a module. Blocks of torch.cat and workspaces of libraries have separate places.
  struct Place {
    DeviceId device;
    std::uint32_t line = kNoLine;
    NameId operator_name;
    ModuleId module;
    bool joined = false;     // torch.cat or a similar operator allocated the block
    bool workspace = false;  // the block is a library's workspace
    bool operator==(const Place&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Place& place) {
      return H::combine(std::move(hash), place.device.value, place.line, place.operator_name.value, place.module.value,
                        place.joined, place.workspace);
    }
  };
  static constexpr std::uint32_t kNoLine = 0xffffffffu;
  // The blocks of one place.
  struct Row {
    std::map<std::uint64_t, StepSum> by_step;  // sums of live blocks, by the step that allocated them
    std::uint64_t bytes = 0;
    std::uint64_t oldest_freed = 0;  // longest life of a freed block, in steps
    LevelSeries levels;              // only for blocks of torch.cat: live bytes at the begin of each step
  };
  // A block that the current step allocated. If the step also frees the block, the block is not examined.
  struct NewBlock {
    Place place;
    LeakPart part;
    std::uint64_t bytes = 0;
    std::uint32_t slot = 0;  // index in known_
    bool live = true;
  };
  struct KnownBlock {
    Place place;
    LeakPart part;
    std::uint64_t bytes = 0, step = 0;
    std::uint32_t at = 0;  // index in new_, plus 1; 0: the sums of the place's row include the block
    bool counts = false;   // false: not examined, or freed
    bool inferred = false;
  };
  // A row that leaks. Its figures cover the blocks that were allocated from step `since` to the step before `until`.
  struct LeakCandidate {
    Leak leak;
    std::uint64_t since = 0, until = 0, blocks = 0;
    LeakParts parts;
  };
  struct Memory {  // figures of one device
    std::uint64_t live = 0, peak = 0;
    std::uint64_t of_step = 0;  // bytes that the current step has requested
    std::uint64_t most = 0;     // the most bytes that one step has requested
    LevelSeries reserved{}, allocated{}, peaks{}, most_requested{};
  };
  static std::size_t IndexOf(const Block& block) {  // index in known_
    return block.slot == Block::kNoSlot ? 0 : block.slot + std::size_t{1};
  }
  void Restart(StepSource source);
  void EndStep();
  void NoteLevels();
  void MoveTo(std::uint64_t step, KnownBlock& known);
  std::optional<LeakCandidate> Judge(const Place& place, const Row& row);
  void TakeParts(absl::flat_hash_map<Place, LeakCandidate>& kept) const;
  void JudgeReserved(DeviceId id, const Memory& memory, ProcessId process);
  void Add(Leak leak, DeviceId device, ProcessId process);

  const BlockCategories& categories_;
  SourceLines lines_;
  StepSource source_ = StepSource::kNone;  // the best source so far; only its steps are counted
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> numbers_;               // for each step: its number in the program
  std::uint64_t newest_ns_ = 0;                      // begin of the current step
  std::uint64_t last_ns_ = 0, last_but_one_ns_ = 0;  // begins of the two steps before the current step
  std::uint64_t newest_until_ns_ = 0;  // when the current step first allocated or freed a block; 0: not yet
  bool frozen_ = false;                // true: the window has closed, so nothing is counted any more
  absl::flat_hash_map<Place, Row> rows_;
  std::vector<NewBlock> new_;
  std::vector<KnownBlock> gone_;   // older blocks that the current step has freed
  std::vector<KnownBlock> known_;  // by Block::slot + 1
  std::map<DeviceId, Memory> memory_;
  Leaks found_;
};

// Finds the leaks without their causes. Needs two replays: for categories, and for leaks.
Task<absl::StatusOr<Leaks>> FindLeaks(SharedCategories& shared, Selection selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAKS_H_
