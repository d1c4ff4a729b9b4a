// Judges the live blocks at an early end: at the end of the recording, at an out-of-memory error, or at a switch to a
// lower level. Later uses of these blocks are not recorded. A block that a node may have saved counts as held by
// autograd until the node runs. If the evidence of a block's rule is not certain, the rule of the newest judged block
// from the same place in the program (allocation_places.h) applies instead.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_LIVE_BLOCK_JUDGE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_LIVE_BLOCK_JUDGE_H_

#include <cstdint>
#include <functional>

#include "tools/analyze/categories/evidence/copy_evidence.h"
#include "tools/analyze/categories/evidence/graph_evidence.h"
#include "tools/analyze/categories/evidence/holder_evidence.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event/event.h"

namespace memoir {

class LiveBlockJudge {
 public:
  LiveBlockJudge(SharedEvidence& shared, GraphEvidence& graph, const CopyEvidence& copies,
                 const HolderEvidence& holders)
      : shared_(shared), graph_(graph), copies_(copies), holders_(holders) {}

  // Notes that a range has begun.
  void NoteRange() { ++ranges_; }
  // Judges all live blocks at an early end. Does nothing if no range has begun since the last call.
  void JudgeLive();
  // Judges a block that is live at the end of its process, unless it still has a judgement of JudgeLive.
  void JudgeLeft(WatchedBlock& watched, std::uint32_t slot) const;
  // Calls `function` with each live block, and with the rule that the block would have if the recording ended now.
  void ForEachLive(const std::function<void(const Block&, RuleNumber)>& function);
  void EndProcess();

 private:
  Judgement JudgeLiveBlock(const WatchedBlock& watched, std::uint32_t slot) const;
  Judgement AsBefore(const WatchedBlock& watched, RuleNumber rule) const;

  BoundReference<SharedEvidence> shared_;
  BoundReference<GraphEvidence> graph_;
  BoundReference<const CopyEvidence> copies_;
  BoundReference<const HolderEvidence> holders_;
  // The number of ranges that have begun, and this number when JudgeLive() last judged live blocks.
  std::uint64_t ranges_ = 0, ranges_at_early_end_ = ~std::uint64_t{0};
  std::uint64_t judged_at_early_ends_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_LIVE_BLOCK_JUDGE_H_
