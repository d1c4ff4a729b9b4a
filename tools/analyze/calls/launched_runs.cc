#include "tools/analyze/calls/launched_runs.h"

#include <algorithm>
#include <iterator>

namespace memoir {

std::vector<DeviceRun> LaunchedRuns::AddCall(std::uint32_t correlation, const LaunchingCall& call) {
  if (calls_.insert_or_assign(correlation, call).second) call_order_.push_back(correlation);
  if (call_order_.size() > kMostCalls) {
    calls_.erase(call_order_.front());
    call_order_.pop_front();
  }
  auto waited = waiting_.extract(correlation);
  return waited.empty() ? std::vector<DeviceRun>() : std::move(waited.mapped());
}

const LaunchingCall* LaunchedRuns::AddRun(std::uint32_t correlation, const DeviceRun& run) {
  if (const auto call = calls_.find(correlation); call != calls_.end()) return &call->second;
  waiting_[correlation].push_back(run);
  run_order_.push_back(correlation);
  if (run_order_.size() > kMostRuns) {
    auto oldest = waiting_.extract(run_order_.front());
    if (!oldest.empty()) std::ranges::move(oldest.mapped(), std::back_inserter(others_));
    run_order_.pop_front();
  }
  return nullptr;
}

std::vector<DeviceRun> LaunchedRuns::TakeRunsWithoutCall() {
  for (auto& [correlation, runs] : waiting_) std::ranges::move(runs, std::back_inserter(others_));
  std::vector<DeviceRun> others = std::move(others_);
  *this = LaunchedRuns();
  return others;
}

}  // namespace memoir
