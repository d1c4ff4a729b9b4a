// Judges the blocks that are freed, that is, finds the rule that applies, and stores the results by Block::ordinal.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_FREED_BLOCK_JUDGE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_FREED_BLOCK_JUDGE_H_

#include <cstdint>
#include <utility>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/copy_evidence.h"
#include "tools/analyze/categories/evidence/graph_evidence.h"
#include "tools/analyze/categories/evidence/holder_evidence.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/ordinal_table.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/event/event.h"

namespace memoir {

class FreedBlockJudge {
 public:
  FreedBlockJudge(SharedEvidence& shared, GraphEvidence& graph, CopyEvidence& copies, HolderEvidence& holders)
      : shared_(shared), graph_(graph), copies_(copies), holders_(holders) {}

  void NoteFree(const DeallocateEvent& event);
  // Judges a block that is freed now, or whose process ends.
  void NoteEnd(const Block& block, WatchedBlock& watched);

  // See EvidencePass.
  RuleNumber RuleOfEnded(std::uint64_t ordinal) const;
  void Forget(std::uint64_t next);
  OrdinalTable<bool, false> TakeExpected() { return std::move(expected_); }
  OrdinalTable<ParameterNumber, kNoParameter> TakeOwners() { return std::move(owners_); }
  LibraryWorkspaces TakeWorkspaces() { return std::move(workspaces_); }

 private:
  void Judge(const Block& block, WatchedBlock& watched, Judgement judgement);

  BoundReference<SharedEvidence> shared_;
  BoundReference<GraphEvidence> graph_;
  BoundReference<CopyEvidence> copies_;
  BoundReference<HolderEvidence> holders_;
  bool forgets_ = false;  // Forget was called: the following members stay empty
  OrdinalTable<bool, false> expected_;
  OrdinalTable<ParameterNumber, kNoParameter> owners_;
  LibraryWorkspaces workspaces_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_FREED_BLOCK_JUDGE_H_
