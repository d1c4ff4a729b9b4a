#include "tools/analyze/summary/summary_pass.h"

#include "tools/analyze/summary/rows/summary_rows.h"
#include "tools/analyze/summary/summarized_event.h"

namespace memoir {

void SummaryPass::OnSwitch(const LevelChangeEvent& event) {
  handlers_.events.CountEvent(event, true);
  if (event.level == v1::LEVEL_OFF) handlers_.steps.NoteMemoryUse();  // later allocations are not recorded
}

void SummaryPass::SeeProcessBegin(const ProcessEvent&) {
  handlers_.events.BeginProcess();
  handlers_.calls.BeginProcess();
}

void SummaryPass::SeeProcessEnd(const ProcessEvent& event) {
  handlers_.segments.EndProcess(event.process);
  handlers_.times.EndProcess(event);
  handlers_.steps.EndProcess(event.process);
}

void SummaryPass::SeeWindowOpen(const Event& event) {
  handlers_.times.OpenWindow(event);
  handlers_.peaks.OpenWindow(event);
  handlers_.caching.OpenWindow(event);
  handlers_.outside.OpenWindow(event);
}

void SummaryPass::SeeWindowClose(const Event& event) {
  handlers_.times.CloseWindow(event);
  handlers_.caching.CloseWindow(event);
}

void SummaryPass::SeeEnd(const ReplayReport& report) {
  if (stopped()) return;
  handlers_.shared.summary.by = handlers_.shared.grouping.by();
  handlers_.events.FillSummary(report);
  handlers_.times.FillSummary();
  handlers_.steps.FillSummary();
  SummaryRows(handlers_).AddRows();
  AddProcesses(report);
}

void SummaryPass::AddProcesses(const ReplayReport& report) {
  Summary& summary = handlers_.shared.summary;
  for (const ProcessSummary& process : capture().processes()) {
    if (selection().rank && process.rank() != selection().rank) continue;
    const ReplayReport::Process& seen = report.processes[process.id.value];
    summary.processes.push_back(
        {process.id, process.rank(), process.info.pid(), seen.duration_ns, seen.counters, seen.end});
    summary.dropped_events += seen.counters.dropped_records() + seen.counters.lost_events();
  }
}

}  // namespace memoir
