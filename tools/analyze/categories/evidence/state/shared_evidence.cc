#include "tools/analyze/categories/evidence/state/shared_evidence.h"

#include <cstddef>

#include "tools/analyze/categories/rules.h"

namespace memoir {

bool SharedEvidence::IsOpen(ThreadId thread, const RangePosition& range) const {
  if (range.depth < 0 || !thread.valid()) return false;
  const RangeStack& stack = replay->stack(thread);
  const auto depth = static_cast<std::size_t>(range.depth);
  return depth < stack.size() && stack[depth].call == range.call;
}

// Returns true if the newest judged block of the place was carried between calls. If so, the next block of the place
// also counts as carried, because the program may free the last block of a cache before it reads the block.
bool SharedEvidence::WasCarried(std::uint64_t place) const {
  const AllocationPlaces::Outcome* before = places.Find(place);
  return before != nullptr && Rules()[before->rule].name == "carried_between_calls";
}

// Returns true if the block has lived through several steps. A variable may hold a result until the next step replaces
// the result, and a step may call the model several times, so one pass or call is not enough.
bool SharedEvidence::IsKeptForSteps(const WatchedBlock& watched) const {
  constexpr std::uint64_t kPasses = 3, kCalls = 8;
  return passes.begun >= watched.passes_before + kPasses || module_calls.model_calls() >= watched.calls_before + kCalls;
}

void SharedEvidence::EndProcess() {
  blocks.EndProcess();
  module_calls.EndProcess();
  passes = {};
  graph.Clear();
  places.EndProcess();
  trains = false;
}

}  // namespace memoir
