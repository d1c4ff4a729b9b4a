// The error messages of a WindowedVisitor for a selection that the recording does not contain. A message names the
// steps, times, ranges, ranks or devices that the recording contains.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/model/figure_text.h"
#include "tools/read/summary_file.h"

namespace memoir {
namespace {

constexpr std::size_t kNamesInMessage = 8;

std::string ListOf(const std::set<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.end());
  const bool more = shown.size() > kNamesInMessage;
  if (more) shown.resize(kNamesInMessage);
  return absl::StrCat(absl::StrJoin(shown, ", "), more ? ", ..." : "");
}

std::string AvailableStepsText(StepSource source, std::uint64_t newest) {
  switch (source) {
    case StepSource::kNone:
      return "the recording has none: no call of memoir.step(), of an optimizer or of a module";
    case StepSource::kModule:
      return absl::StrCat("steps are calls of the outermost module here, 0 to ", newest);
    case StepSource::kOptimizer:
      return absl::StrCat("steps are those of the optimizer here, 0 to ", newest);
    case StepSource::kProfiler:
      return absl::StrCat("steps are torch.profiler's here, up to ", newest);
    case StepSource::kProgram:
      return absl::StrCat("steps are counted up to ", newest, " here");
  }
  return "";
}

// If the folder contains only a summary of the rank, returns a text that explains this, for the end of an error
// message. Otherwise returns an empty text.
std::string SummaryAlone(const std::string& folder, std::uint32_t rank) {
  const absl::StatusOr<JobFiles> job = ListJobFiles(folder);
  if (!job.ok()) return "";
  const bool alone = std::ranges::any_of(job->named, [&](const NamedFiles& files) {
    return files.has_summary && files.parts.empty() && files.name.starts_with(RankFilePrefix(rank));
  });
  return alone ? absl::StrCat("; of rank ", rank, " a summary is here, and memoir collect --ranks ", rank,
                              " copies the recording")
               : "";
}

}  // namespace

absl::Status WindowedVisitor::WindowNotFound() const {
  const SelectionWindow& window = selection_.window;
  if (window.kind == SelectionWindow::Kind::kSteps) {
    return absl::NotFoundError(absl::StrCat(capture_.path(), ": no step from ", window.first_step, " to below ",
                                            window.last_step, "; ", AvailableStepsText(best_source_, newest_step_)));
  }
  if (window.kind == SelectionWindow::Kind::kTime) {
    const std::string recorded =
        first_ns_ > last_ns_
            ? ""
            : absl::StrCat("; the recording is from ", FormatMoment(first_ns_), " to ", FormatMoment(last_ns_));
    return absl::NotFoundError(absl::StrCat(capture_.path(), ": no event in that span of time", recorded));
  }
  if (occurrence_ > 0) {
    return absl::NotFoundError(absl::StrCat(capture_.path(), ": range '", window.range, "' occurs ", occurrence_,
                                            " times, counted from 0; there is no #", *window.occurrence));
  }
  return absl::NotFoundError(absl::StrCat(
      capture_.path(), ": no user range is named '", window.range, "'; ",
      range_names_.empty() ? std::string("the program has none (torch.profiler.record_function makes them)")
                           : "there are: " + ListOf(range_names_)));
}

absl::Status WindowedVisitor::CheckFound() const {
  const std::vector<ProcessSummary>& processes = capture_.processes();
  if (selection_.rank) {
    std::set<std::string> ranks;
    for (const ProcessSummary& process : processes) {
      if (process.is_rank) ranks.insert(std::to_string(process.info.rank()));
    }
    if (ranks.count(std::to_string(*selection_.rank)) == 0) {
      return absl::NotFoundError(absl::StrCat(capture_.path(), ": no rank ", *selection_.rank, "; there are: ",
                                              ListOf(ranks), SummaryAlone(capture_.path(), *selection_.rank)));
    }
  }
  if (selection_.device && !any_device_) {
    std::set<std::string> devices;
    for (std::size_t i = 0; i < state_->dictionary().devices(); ++i) {
      devices.insert(ToString(state_->dictionary().device(DeviceId{static_cast<std::uint32_t>(i)})));
    }
    if (devices.count(*selection_.device) == 0) {
      return absl::NotFoundError(
          absl::StrCat(capture_.path(), ": no device '", *selection_.device, "'; there are: ", ListOf(devices)));
    }
  }
  return windows_ == 0 ? WindowNotFound() : filter_.CheckFound(capture_.path());
}

}  // namespace memoir
