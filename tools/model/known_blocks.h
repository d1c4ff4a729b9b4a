// Blocks of steps that were recorded without operators, because they repeat steps that were recorded with them
// (detail=auto): what made such a block is inferred from its counterpart, the block in the same place of a step that
// was recorded in full, with the same Python stack: where that differs, other code has asked for the same size.
//
// A place is all allocations of a sequence since the step began: the host's on the thread that marks steps, or a CUDA
// device's. Two steps share a place as long as the sizes asked for and the streams are the same in the same order; the
// recorder has followed them alike (tracker/detail/known_steps.h).
#ifndef TOOLS_MODEL_KNOWN_BLOCKS_H_
#define TOOLS_MODEL_KNOWN_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event.h"
#include "tools/model/ids.h"
#include "tools/model/known_steps.h"

namespace memoir {

// Of one process.
class KnownBlocks {
 public:
  // `follows`: of a recording with detail=auto. Otherwise nothing is done.
  void Begin(bool follows);

  // From this event on, on the thread that marks steps.
  void StepBegins(ThreadId thread);
  void Switch(v1::RecordingLevel level);

  // A block that is about to be shown with this ordinal. One whose operators were not recorded gets what is known of
  // its counterpart, and Block::counterpart.
  void Follow(std::uint64_t ordinal, bool caching, Block& block);

  // A block ends. `temporary`: by what is recorded, the operator call that allocated it still runs. Returns that, of a
  // block without operators as it was of its counterpart.
  bool Ends(const Block& block, bool temporary);

  // Blocks are missing from here on: of what follows in this step no place is known.
  void Lose();

  const KnownSteps& found() const { return found_; }
  // Whole steps that are not shown.
  void PassOver(const KnownSteps& steps, std::uint64_t times) {
    const std::uint64_t before = found_.steps;
    found_.Add(steps, times);
    for (Sequence& sequence : sequences_) {
      if (sequence.step == before) sequence.step = found_.steps;
    }
  }

 private:
  struct Counterpart {
    NameId operator_name, leaf_name, user_name, region;
    StackId forward_callstack;
    ModuleId module;
    std::uint64_t ordinal = 0;
    Phase phase = Phase::kOther;
    bool in_compiled_region = false, compiling = false, temporary = false;
    std::uint8_t seen = 0;
  };
  struct Sequence {
    std::uint64_t place = 0;
    std::uint64_t step = 0;
  };
  Sequence& SequenceOf(DeviceId device);
  void Learn(std::uint64_t place, std::uint64_t ordinal, const Block& block);
  void Infer(std::uint64_t place, Block& block);

  bool follows_ = false;
  bool full_ = false;    // operators are recorded now
  bool learns_ = false;  // and have been since the step began
  ThreadId thread_;
  std::vector<Sequence> sequences_;                           // by DeviceId
  absl::flat_hash_map<std::uint64_t, Counterpart> known_;     // by place and Python stack
  absl::flat_hash_map<std::uint64_t, std::uint64_t> places_;  // of counterparts, by their ordinals
  KnownSteps found_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_KNOWN_BLOCKS_H_
