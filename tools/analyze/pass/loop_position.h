// Where in its loop a program is: in which step, and at which call of which operator there. So that a moment can be
// compared with the same one of the step before.
//
// What a step is, the program says with memoir.step(); else a call of the optimizer ends one; else a call of the
// outermost module begins one (inference).
#ifndef TOOLS_ANALYZE_PASS_LOOP_POSITION_H_
#define TOOLS_ANALYZE_PASS_LOOP_POSITION_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event.h"

namespace memoir {

enum class StepKind : std::uint8_t { kStep, kOptimizer, kModuleCall };
inline constexpr std::size_t kStepKinds = 3;
std::string_view ToString(StepKind kind);  // "step", "optimizer step", "module call"

// A call of an operator that no other is around, in the process that a LoopClock follows.
struct LoopPosition {
  StepKind kind = StepKind::kStep;
  std::uint64_t step = 0;  // how many of them had begun (optimizer: ended)
  NameId operator_name;
  ModuleId module;
  Phase phase = Phase::kOther;
  std::uint64_t occurrence = 0;  // of these three in the step, from 1
  friend bool operator==(const LoopPosition&, const LoopPosition&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const LoopPosition& at) {
    return H::combine(std::move(state), at.kind, at.step, at.operator_name, at.module, at.phase, at.occurrence);
  }
};

// Follows one process: tell it of its events in replay order, with ReplayOptions::modules.
class LoopClock {
 public:
  using Positions = std::array<LoopPosition, kStepKinds>;  // by StepKind

  // The positions of a call that begins; nothing for any other range. Valid until the next call.
  const Positions* RangeBegins(const RangeBeginEvent& event);
  // What these do to the count of steps: the kind whose next step has begun.
  std::optional<StepKind> RangeEnds(const RangeEndEvent& event, std::string_view name);
  std::optional<StepKind> ModuleEnters(const ModuleEvent& event);
  StepKind Stepped();

  std::uint64_t steps(StepKind kind) const { return steps_[static_cast<std::size_t>(kind)]; }
  // The kind of step that this program has, as far as is known by now; nothing: none has begun yet.
  std::optional<StepKind> BestKind() const;
  // Of the operator call that runs on a thread; nullptr when none does.
  const LoopPosition* Running(ThreadId thread, StepKind kind) const;

 private:
  struct What {
    NameId operator_name;
    ModuleId module;
    Phase phase;
    friend bool operator==(const What&, const What&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const What& what) {
      return H::combine(std::move(state), what.operator_name, what.module, what.phase);
    }
  };
  StepKind Begin(StepKind kind);

  std::array<std::uint64_t, kStepKinds> steps_{};
  std::array<absl::flat_hash_map<What, std::uint64_t>, kStepKinds> occurrences_;  // in the step in hand
  absl::flat_hash_map<ThreadId, Positions> running_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_LOOP_POSITION_H_
