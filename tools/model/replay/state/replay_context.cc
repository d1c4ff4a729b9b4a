#include "tools/model/replay/state/replay_context.h"

#include <utility>

namespace memoir {

ReplayContext::ReplayContext(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
                             const ReplayOptions& options, ReplayReport* report)
    : processes_(processes), symbols_(symbols), visitor_(visitor), options_(options), report_(*report) {
  for (const ProcessSummary& process : processes) clocks_.emplace_back(process.info, process.start_ns);
  report_.processes.resize(processes.size());
}

void ReplayContext::BeginProcess(ProcessId process) {
  process_ = process;
  ids_.emplace(process, &dictionary_, symbols_);
  now_ = summary().first_tick;
}

void ReplayContext::ReportDamage(std::string what) {
  damage_place_.what = std::move(what);
  report_.damage.push_back(damage_place_);
}

}  // namespace memoir
