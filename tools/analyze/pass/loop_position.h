// The position of a program in its training loop: the step, and the number of an operator call in this step. Two
// replays use the position to compare an instant with the same instant of the previous step.
//
// Three kinds of steps are counted: a call of memoir.step() begins a step; a call of the optimizer ends a step; a call
// of the outermost module begins a step. BestKind() chooses the first kind that the program has. For example, steps are
// module calls if a program only does inference and does not call memoir.step().
#ifndef TOOLS_ANALYZE_PASS_LOOP_POSITION_H_
#define TOOLS_ANALYZE_PASS_LOOP_POSITION_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/event.h"

namespace memoir {

enum class StepKind : std::uint8_t { kStep, kOptimizer, kModuleCall };
inline constexpr std::size_t kStepKinds = 3;
std::string_view ToString(StepKind kind);  // "step", "optimizer step", "module call"

// A call of an outermost operator, in the process that a LoopClock follows.
struct LoopPosition {
  StepKind kind = StepKind::kStep;
  std::uint64_t step = 0;  // number of steps that had begun; for kOptimizer: number of steps that had ended
  NameId operator_name;
  ModuleId module;
  Phase phase = Phase::kOther;
  // Number of the call, from 1, among the calls of the step that have the same operator, module and phase.
  std::uint64_t occurrence = 0;
  friend bool operator==(const LoopPosition&, const LoopPosition&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const LoopPosition& at) {
    return H::combine(std::move(state), at.kind, at.step, at.operator_name, at.module, at.phase, at.occurrence);
  }
};

// Follows one process. Pass it all events in replay order. The replay needs ReplayOptions::modules.
class LoopClock {
 public:
  using Positions = std::array<LoopPosition, kStepKinds>;  // by StepKind

  // If the range that begins is an outermost operator, returns the positions of its call. They are valid until the next
  // call of SeeRangeBegin or SeeRangeEnd. nullptr for other ranges.
  const Positions* SeeRangeBegin(const RangeBeginEvent& event);
  // The next three functions return the kind of the step that begins with the event. nullopt if no step begins.
  std::optional<StepKind> SeeRangeEnd(const RangeEndEvent& event, std::string_view name);
  std::optional<StepKind> SeeModuleEnter(const ModuleEvent& event);
  StepKind SeeStep();

  std::uint64_t steps(StepKind kind) const { return steps_[static_cast<std::size_t>(kind)]; }
  // Returns the first StepKind, in the order of the enum, of which the program has begun a step. nullopt if no step has
  // begun.
  std::optional<StepKind> BestKind() const;
  // Returns the position of the operator call that runs on a thread. nullptr if no operator runs.
  const LoopPosition* RunningPosition(ThreadId thread, StepKind kind) const;

 private:
  struct OperatorPlace {
    NameId operator_name;
    ModuleId module;
    Phase phase;
    friend bool operator==(const OperatorPlace&, const OperatorPlace&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const OperatorPlace& what) {
      return H::combine(std::move(state), what.operator_name, what.module, what.phase);
    }
  };
  StepKind Begin(StepKind kind);

  std::array<std::uint64_t, kStepKinds> steps_{};
  // Numbers of operator calls in the current step of each StepKind.
  std::array<absl::flat_hash_map<OperatorPlace, std::uint64_t>, kStepKinds> occurrences_;
  absl::flat_hash_map<ThreadId, Positions> running_;  // of the outermost operator that runs on each thread
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_LOOP_POSITION_H_
