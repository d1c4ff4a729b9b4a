// What all events of a replay share: who, when, and what a program was doing.
#ifndef TOOLS_MODEL_EVENT_BASE_H_
#define TOOLS_MODEL_EVENT_BASE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/model/ids.h"

namespace memoir {

struct Event {
  ProcessId process;
  ThreadId thread;  // invalid for events that no thread made (keyframe, process)
  Tick tick = 0;
};

// What a program does, as far as modules, autograd and the optimizer's own ranges show it.
enum class Phase : std::uint8_t {
  kForward,    // inside a module
  kBackward,   // inside autograd's engine
  kRecompute,  // a module that the engine calls again (activation checkpointing)
  kOptimizer,  // inside a range Optimizer.step#... or Optimizer.zero_grad#...
  kCompile,    // torch.compile works: inside a range "torch.compile: ..."
  kOther,
};
inline constexpr std::size_t kPhases = 6;
std::string_view ToString(Phase phase);  // "forward", "backward", ...

enum class BlockOrigin : std::uint8_t {
  kRecorded,  // its allocation is an event of this replay
  kFound,     // it was live already when the recording began, or went on; its allocation was not seen
  kKeyframe,  // it was live in the keyframe that the replay started, or went on after a loss, from
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_BASE_H_
