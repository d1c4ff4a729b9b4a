#include "tools/cli/show/show_view.h"

#include <algorithm>
#include <array>

namespace memoir {
namespace {

std::string ComplaintAboutJob(const ShowArguments& arguments) {
  return arguments.shows_whole() ? "" : "--by job is about a whole job; leave out the other choices";
}

}  // namespace

const ShowView kShowJob = {
    .by = "job",
    .by_help = "the ranks of a job together, from their summaries (memoir summarize)",
    .complaint = ComplaintAboutJob,
};

absl::Span<const ShowView* const> ShowViews() {
  static constexpr std::array<const ShowView*, 11> kViews = {
      &kShowStacks,     &kShowCompiled, &kShowCheckpointing, &kShowKernels, &kShowJob,    &kShowSegments,
      &kShowLiveBlocks, &kShowOverTime, &kShowOverOperators, &kShowTree,    &kShowSummary};
  return kViews;
}

const ShowView& ChosenView(const ShowArguments& arguments) {
  const absl::Span<const ShowView* const> views = ShowViews();
  return **std::ranges::find_if(views, [&](const ShowView* view) {
    return view->by.empty() ? view->is_chosen(arguments) : arguments.by == view->by;
  });
}

std::string InstantName(const std::string& at) {
  if (at == "oom") return "the last out-of-memory error";
  return at == "peak" || at == "end" ? "the " + at : at;
}

}  // namespace memoir
