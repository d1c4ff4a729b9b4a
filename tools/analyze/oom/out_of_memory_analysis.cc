#include "tools/analyze/oom/out_of_memory_analysis.h"

#include <utility>

#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/oom/out_of_memory_pass.h"
#include "tools/analyze/pass/visitor_group.h"

namespace memoir {
namespace {

// If a program has steps, compares each of its errors with the previous step. Needs one replay for all errors.
Task<absl::Status> AddGrowth(JointReplays& replays, const Selection& selection, const BlockCategories& categories,
                             std::vector<GrowthQuestion> questions, std::vector<OutOfMemory>& errors) {
  std::vector<GrowthQuestion> asked;
  std::vector<OutOfMemory*> of;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!errors[i].growth.kind) continue;
    asked.push_back(std::move(questions[i]));
    of.push_back(&errors[i]);
  }
  if (asked.empty()) co_return absl::OkStatus();
  std::vector<OutOfMemoryGrowth> growths(asked.size());
  const absl::Status status = co_await AnalyzeOutOfMemoryGrowth(replays, selection, categories, asked, &growths);
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i]->growth = std::move(growths[i]);
    // Only a request for tensors can be matched with a request of the previous step.
    if (!of[i]->asks_for_tensors()) of[i]->growth.asked_then.reset();
  }
  co_return status;
}

}  // namespace

Task<absl::StatusOr<std::vector<OutOfMemory>>> AnalyzeOutOfMemory(SharedCategories& shared, Selection selection,
                                                                  std::size_t most) {
  JointReplays& replays = shared.replays();
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!categories.ok()) co_return categories.status();
  OutOfMemoryPass pass(replays.capture(), selection, most, **categories);
  LeakPass leaks(replays.capture(), selection, **categories);
  VisitorGroup both({&pass, &leaks});
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(both, {.modules = true});
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  std::vector<OutOfMemory> errors = pass.TakeErrors();
  const absl::Status status = co_await AddGrowth(replays, selection, **categories, pass.TakeQuestions(), errors);
  if (!status.ok()) co_return status;
  AddLeakTotals(leaks.Take().leaks, errors);
  co_return errors;
}

absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection,
                                                            std::size_t most) {
  JointReplays replays(capture, selection);
  SharedCategories categories(replays);
  return replays.Finish(AnalyzeOutOfMemory(categories, selection, most));
}

}  // namespace memoir
