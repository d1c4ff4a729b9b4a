#include "tools/analyze/checkpointing/operator_results.h"

namespace memoir {

void OperatorResults::NoteResult(const AllocateEvent& event, const FollowedBlock& followed) {
  for (auto range = event.stack->rbegin(); range != event.stack->rend(); ++range) {
    if (range->sequence < 0 || IsUserRange(range->source)) continue;
    if (event.thread.value >= results_.size()) results_.resize(event.thread.value + 1);
    results_[event.thread.value].push_back({range->call, event.block->slot, followed.ordinal});
    return;
  }
  calls_.NoteMost(followed, followed.call);
}

void OperatorResults::EndOperator(const RangeEndEvent& event) {
  if (event.thread.value >= results_.size()) return;
  std::vector<Result>& results = results_[event.thread.value];
  while (!results.empty() && results.back().operator_call >= event.range->call) {
    const FollowedBlock* followed = blocks_.Find(results.back().slot, results.back().ordinal);
    if (followed != nullptr) calls_.NoteMost(*followed, followed->call);
    results.pop_back();
  }
}

}  // namespace memoir
