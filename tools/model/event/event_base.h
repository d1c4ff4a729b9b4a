// The common fields of all events of a replay: process, thread and tick. Also Phase and BlockOrigin.
#ifndef TOOLS_MODEL_EVENT_EVENT_BASE_H_
#define TOOLS_MODEL_EVENT_EVENT_BASE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/model/event/ids.h"

namespace memoir {

struct Event {
  ProcessId process;
  ThreadId thread;  // invalid for events without a thread, such as a KeyframeEvent
  Tick tick = 0;
};

// The part of a training step to which an event belongs, derived from module calls, autograd nodes and optimizer
// ranges. The phases of a whole run (import, warm-up, step) are a different division.
enum class Phase : std::uint8_t {
  kForward,    // inside a module
  kBackward,   // inside autograd's engine
  kRecompute,  // inside a module that autograd's engine calls again (activation checkpointing)
  kOptimizer,  // inside a range Optimizer.step#... or Optimizer.zero_grad#...
  kCompile,    // inside torch.compile's own work, a range "torch.compile: ..."
  kOther,
};
inline constexpr std::size_t kPhases = 6;
std::string_view ToString(Phase phase);  // "forward", "backward", ...

enum class BlockOrigin : std::uint8_t {
  kRecorded,  // the allocation is an event of this replay
  kFound,     // live when the recording began or was resumed; the allocation was not recorded
  kKeyframe,  // live in the keyframe from which the replay started or continued after a loss
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_EVENT_BASE_H_
