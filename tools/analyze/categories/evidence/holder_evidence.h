// Evidence from the events in which modules, optimizers and autograd list the tensors that they hold.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_HOLDER_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_HOLDER_EVIDENCE_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/evidence.h"
#include "tools/analyze/categories/evidence/copy_evidence.h"
#include "tools/analyze/categories/evidence/state/bound_reference.h"
#include "tools/analyze/categories/evidence/state/shared_evidence.h"
#include "tools/analyze/categories/evidence/state/thread_table.h"
#include "tools/analyze/categories/evidence/state/watched_block.h"
#include "tools/analyze/categories/parameter_book.h"
#include "tools/model/event/event.h"

namespace memoir {

class HolderEvidence {
 public:
  HolderEvidence(SharedEvidence& shared, CopyEvidence& copies) : shared_(shared), copies_(copies) {}

  void NoteHolds(const HeldTensorsEvent& event);
  void EndBlock(const WatchedBlock& watched);
  void EndProcess();

  bool stepped() const { return stepped_; }
  const std::vector<Parameter>& parameters() const { return book_.parameters(); }
  std::vector<Parameter> TakeParameters() { return book_.Take(); }

 private:
  // The module or optimizer of the newest HeldTensorsEvent, and how many of its parameters and buffers were listed so
  // far.
  struct NewestHolder {
    bool holder_is_module = false;
    ModuleId holder;
    std::uint32_t parameters = 0, buffers = 0;
  };

  void HoldByModule(const HeldTensorsEvent& event, NewestHolder& newest);
  void HoldByOptimizer(const HeldTensorsEvent& event);
  void NoteGradient(const HeldTensorsEvent& event);
  void Hold(const Tensor& tensor, Sign sign, ParameterNumber parameter);
  void HoldGradient(const Tensor& leaf, const Tensor& gradient, ParameterNumber parameter);
  BookedTensor BookTensor(const Tensor& tensor);

  BoundReference<SharedEvidence> shared_;
  BoundReference<CopyEvidence> copies_;
  ThreadTable<NewestHolder> threads_;
  ParameterBook book_;
  bool stepped_ = false;  // an optimizer has reported its tensors
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_HOLDER_EVIDENCE_H_
