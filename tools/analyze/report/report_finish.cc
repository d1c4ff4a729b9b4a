// The part of ReportPass that completes the content of a process at its end.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tools/analyze/report/report_pass.h"

namespace memoir {
namespace {

constexpr std::size_t kMostIterations = std::size_t{1} << 14;

// Removes all iterations that lie completely before `begin_ns` or after `end_ns`. An iteration lasts until the next
// iteration begins.
void KeepIterationsBetween(std::uint64_t begin_ns, std::uint64_t end_ns, std::vector<Iteration>* iterations) {
  const auto first_ns = [](const Iteration& iteration) {
    const auto markers = MarkersOf(iteration);
    return markers.empty() ? std::uint64_t{0} : markers.front().second.ns;
  };
  const auto next = std::ranges::upper_bound(*iterations, begin_ns, {}, first_ns);
  if (next != iterations->begin()) iterations->erase(iterations->begin(), std::prev(next));
  std::erase_if(*iterations, [&](const Iteration& iteration) { return first_ns(iteration) >= end_ns; });
}

}  // namespace

void ReportPass::FinishPaths(Track& track) {
  const std::vector<RangePaths::Node>& nodes = paths_.nodes();
  track.path_sums.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::uint32_t name = NameOf(nodes[i].name);
    if (paths_.IsBefore(static_cast<std::uint32_t>(i))) {
      name = static_cast<std::uint32_t>(report_.names.size());
      report_.names.emplace_back(kBeforeLabel);
    }
    track.shown.paths.push_back({track.path_sums[i], nodes[i].parent, name, nodes[i].source});
  }
}

void ReportPass::FinishCallers(Track& track) {
  const std::vector<CallerNode>& nodes = callers_.nodes();
  track.caller_sums.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    track.shown.callers.push_back({track.caller_sums[i], nodes[i].kind, nodes[i].parent, nodes[i].frame});
  track.shown.frames = callers_.frames();
}

void ReportPass::FinishDevice(Track& track, std::uint64_t end_ns) {
  ReportDevice& shown = track.shown;
  FinishPaths(track);
  FinishCallers(track);
  shown.allocated = track.allocated.Take();
  if (shown.caching) {
    shown.active = track.active.Take();
    shown.reserved = track.reserved.Take();
  }
  shown.end_ns = std::max(shown.end_ns, end_ns);
  shown.complete = shown.blocks.size() == shown.all_blocks;
  std::ranges::stable_sort(shown.blocks, {}, &ReportBlock::begin_ns);
  std::ranges::stable_sort(shown.instants, {}, &ReportInstant::ns);
  report_.devices.push_back(std::move(shown));
}

// Adds the process, with the steps and iterations that lie in the selected time.
void ReportPass::FinishProcess(ProcessId id) {
  ReportProcess& process = report_.processes.emplace_back();
  process.process = id;
  process.iterations = iterations_.Take();
  if (selection().window.kind != SelectionWindow::Kind::kAll) {
    steps_.RemoveFrom(end_ns_);
    KeepIterationsBetween(begin_ns_, end_ns_, &process.iterations);
  }
  process.steps = steps_.Take(steps().source());
  process.all_iterations = process.iterations.size();
  if (process.iterations.size() > kMostIterations) process.iterations.resize(kMostIterations);
}

void ReportPass::SeeProcessEnd(const ProcessEvent& event) {
  for (auto& [id, track] : tracks_) {
    track.shown.caching = state().memory(id).caching();
    if (selects_blocks()) others_.Take(id, track.shown.begin_ns, end_ns_, track.shown);
    FinishDevice(track, end_ns_);
  }
  if (!tracks_.empty()) FinishProcess(event.process);
  tracks_.clear();
  before_.clear();
  others_ = OmittedBlocks(options_.most_others);
  opened_ = closed_ = begin_ns_ = end_ns_ = 0;
  is_over_ = false;
  paths_ = {};
  callers_ = NewCallers();
  iterations_ = {};
  steps_ = {};
}

}  // namespace memoir
