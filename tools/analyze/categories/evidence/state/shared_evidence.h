// The state that several handlers of evidence share. State that only one handler needs is in that handler.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_SHARED_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_SHARED_EVIDENCE_H_

#include <cstdint>

#include "tools/analyze/categories/allocation_places.h"
#include "tools/analyze/categories/autograd_graph_book.h"
#include "tools/analyze/categories/evidence/state/module_calls.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/evidence/state/watched_blocks.h"
#include "tools/analyze/categories/freed_block_rules.h"
#include "tools/analyze/categories/range_traits.h"
#include "tools/model/capture.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

// Whether a backward pass runs, and the numbers of passes of the process.
struct BackwardPasses {
  bool open = false;
  std::uint64_t begun = 0, ended = 0;
};

struct SharedEvidence {
  const ReplayState* replay = nullptr;
  RangeTraitTable traits;
  WatchedBlocks blocks;
  ModuleCalls module_calls;
  BackwardPasses passes;
  AutogradGraphBook graph;
  AllocationPlaces places;
  FreedBlockRules rules;
  bool trains = false;  // the process has parameters in modules or optimizers

  void Start(const ReplayState& state) {
    replay = &state;
    blocks.Start(state);
  }
  const Dictionary& dictionary() const { return replay->dictionary(); }
  RangeTraits FindTraits(NameId name) { return traits.FindTraits(name, replay->dictionary()); }
  bool IsOpen(ThreadId thread, const RangePosition& range) const;
  bool IsPending(const WatchedBlock& watched, std::uint32_t slot) const {
    return graph.CountHolders({slot, watched.ordinal}) != 0;
  }
  bool WasCarried(std::uint64_t place) const;
  bool IsKeptForSteps(const WatchedBlock& watched) const;
  void EndProcess();
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_SHARED_EVIDENCE_H_
