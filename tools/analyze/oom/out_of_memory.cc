#include "tools/analyze/oom/out_of_memory.h"

#include <utility>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/oom/out_of_memory_pass.h"
#include "tools/analyze/pass/visitor_group.h"

namespace memoir {
namespace {

// Runs the second replay for errors of programs that have steps.
absl::Status AddGrowth(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                       std::vector<GrowthQuestion> questions, std::vector<OutOfMemory>& errors) {
  std::vector<GrowthQuestion> asked;
  std::vector<OutOfMemory*> of;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!errors[i].growth.kind) continue;
    asked.push_back(std::move(questions[i]));
    of.push_back(&errors[i]);
  }
  std::vector<OutOfMemoryGrowth> growths(asked.size());
  const absl::Status status = AnalyzeOutOfMemoryGrowth(capture, selection, categories, asked, &growths);
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i]->growth = std::move(growths[i]);
    // Only a request for tensors can be matched with a request of the previous step.
    if (!of[i]->asks_for_tensors()) of[i]->growth.asked_then.reset();
  }
  return status;
}

}  // namespace

absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection,
                                                            std::size_t most) {
  const Capture::SharedDecoding shared(capture);
  ReplayOptions replay = ReplayOptionsFor(selection, false, false);
  replay.modules = true;
  const absl::StatusOr<BlockCategories> categories =
      CategorizeBlocks(capture, ReplayOptionsFor(selection, true, false));
  if (!categories.ok()) return categories.status();
  OutOfMemoryPass pass(capture, selection, most, *categories);
  LeakPass leaks(capture, selection, *categories);
  VisitorGroup both({&pass, &leaks});
  const absl::StatusOr<ReplayReport> report = capture.Replay(both, replay);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  std::vector<OutOfMemory> errors = pass.TakeErrors();
  const absl::Status status = AddGrowth(capture, selection, *categories, pass.TakeQuestions(), errors);
  if (!status.ok()) return status;
  AddLeakTotals(leaks.Take().leaks, errors);
  return errors;
}

const OutOfMemory& DecisiveError(const std::vector<OutOfMemory>& errors) {
  const OutOfMemory* decisive = nullptr;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool last = i + 1 == errors.size() || errors[i + 1].process != errors[i].process;
    if (last && (decisive == nullptr || errors[i].ns < decisive->ns)) decisive = &errors[i];
  }
  return *decisive;
}

}  // namespace memoir
