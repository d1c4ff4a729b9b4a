#include "tools/analyze/summary/summary_pass.h"

#include <algorithm>
#include <utility>

#include "tools/model/full_steps_note.h"
#include "tools/model/holder_note.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxMarks = 1000;

// Returns the number of recorded events: those that were read, and those in evicted parts.
std::uint64_t AllEvents(const ReplayReport& report) {
  std::uint64_t events = report.events;
  for (const ReplayReport::Process& process : report.processes) events += process.counters.folded_events();
  return events;
}

// Returns true if a module, or its backward, ran inside of the innermost user range. An optimizer's step can call a
// module in its closure. An autograd node runs on a thread without this range.
bool RunsInsideOfRange(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (!block.module.valid() || !block.user_name.valid()) return false;
  const bool has_ranges = event.stack != nullptr && !event.stack->empty();
  const std::int32_t user = has_ranges ? event.stack->back().innermost_user : -1;
  if (user < 0) return block.phase == Phase::kBackward;
  const OpenRange& range = (*event.stack)[static_cast<std::size_t>(user)];
  return range.module != block.module || range.phase != block.phase;
}

}  // namespace

void SummaryPass::SeeWindowOpen(const Event& event) {
  const std::uint64_t ns = Nanoseconds(event);
  summary_.begin_ns = windows() == 0 ? ns : std::min(summary_.begin_ns, ns);
  table_.OpenWindow(event.process, event.tick, opened_.insert(event.process).second);
  compile_peaks_.SeeWindowOpen(table_.devices(), event.process);
  NotePeakAtBegin(event);
  OpenCaching(event);
  OpenOutside(event);
}

// The bytes that are live when a window opens may be the peak of the window. Then no operator reached the peak.
void SummaryPass::NotePeakAtBegin(const Event& event) {
  for (std::size_t i = 0; i < table_.devices().size(); ++i) {
    const DeviceTable& table = table_.devices()[i];
    const bool is_peak = table.peak_tick == event.tick && table.live.bytes == table.peak.bytes && table.peaks > 0;
    if (!table.used || table.process != event.process || !is_peak) continue;
    const DeviceId id{static_cast<std::uint32_t>(i)};
    peak_notes_[id] = {};
    if (selects_blocks()) peak_notes_[id].of_all = std::max(state().live_bytes(id), table.peak.bytes);
  }
}

void SummaryPass::SeeWindowClose(const Event& event) {
  summary_.end_ns = std::max({summary_.end_ns, summary_.begin_ns, Nanoseconds(event)});
  table_.CloseWindow(event.process);
  CloseCaching(event);
}

void SummaryPass::CountCall(const OpenRange& range) {
  ++summary_.ranges;
  summary_.operator_calls += range.is_operator;
  const bool counts = grouping_.by() == GroupBy::kLeaf || (grouping_.by() == GroupBy::kOperator && range.is_operator) ||
                      (grouping_.by() == GroupBy::kRange && IsUserRange(range.source)) ||
                      (grouping_.by() == GroupBy::kRegion && range.role.region);
  if (!counts || !range.name.valid() || range.role.note) return;
  if (range.name.value >= calls_.size()) calls_.resize(range.name.value + 1);
  CallCounts& calls = calls_[range.name.value];
  ++calls.count;
  const bool inside_operator =
      range.outermost_operator >= 0 && static_cast<std::uint32_t>(range.outermost_operator) < range.depth;
  calls.outermost += !inside_operator;
}

void SummaryPass::SeeModuleEnter(const ModuleEvent& event) {
  CountEvent(event, true);
  if (grouping_.by() != GroupBy::kModule || !in_window()) return;
  if (event.of_gradient || event.again || !event.module.valid()) return;
  ++summary_.module_calls;
  if (event.module.value >= calls_.size()) calls_.resize(event.module.value + 1);
  CallCounts& calls = calls_[event.module.value];
  ++calls.count;
  calls.outermost += event.depth == 0;
}

void SummaryPass::SeeRangeBegin(const RangeBeginEvent& event) {
  CountEvent(event, !event.before);
  if (in_window() && !event.before) CountCall(*event.range);
}

void SummaryPass::SeeAllocate(const AllocateEvent& event) {
  CountEvent(event, event.block->origin != BlockOrigin::kKeyframe);
  // Blocks of a keyframe before the first remaining event keep their operator, unless a window is selected.
  const bool whole = selection().window.kind == SelectionWindow::Kind::kAll;
  if (!in_window() && selection().forget_before) return;
  const bool found = event.block->origin == BlockOrigin::kFound;
  // A block's category does not depend on the time of its allocation, but its operator does.
  const bool grouped = NeedsCategories(grouping_.by()) || (!found && (in_window() || (whole && event.before)));
  const CellNumber cell =
      CellOf(grouping_.GroupOf(*event.block, event.process, state().dictionary(), !grouped), !grouped);
  const bool counts = in_window() && !event.before;
  if (counts) step_is_empty_ = false;
  if (counts && !event.block->operator_name.valid() && !event.block->unseen)
    unattributed_[event.block->device] += event.block->bytes;
  if (counts && event.block->in_compiled_region && state().dictionary().origins(event.block->callstack).empty()) {
    ++summary_.compiled_allocations;
    summary_.compiled_bytes += event.block->bytes;
    ++caching_notes_[event.block->device].compiled_allocations;
    caching_notes_[event.block->device].compiled_bytes += event.block->bytes;
  }
  table_.Add(*event.block, event.process, cell, counts, in_window(), event.tick);
  if (counts && grouping_.IsWorkspace(GroupOf(cell)))
    apart_[{event.process, MakerOf(*event.block)}] += {0, 0, 1, event.block->bytes, 0};
  compile_peaks_.NoteAllocation(*event.block, table_.device(event.block->device, event.process), in_window());
  if (!new_segments_.empty()) TakeSegmentsFor(*event.block, event.process, cell);
  NotePeak(event);
  NoteCaching(event, event.block->device);
}

// Called after the block was counted. The block made the peak if the device reached the peak at this tick.
void SummaryPass::NotePeak(const AllocateEvent& event) {
  const DeviceTable& device = table_.device(event.block->device, event.process);
  const bool is_peak = device.peak_tick == event.tick && device.live.bytes == device.peak.bytes;
  const bool is_of_keyframe = event.block->origin == BlockOrigin::kKeyframe;
  if (is_peak && is_of_keyframe) peak_notes_.erase(event.block->device);
  if (!in_window() || is_of_keyframe || !is_peak) return;
  if (state().memory(event.block->device).caching()) NoteAtPeak(event.block->device);
  if (event.before && !event.block->operator_name.valid()) return;
  PeakNotes& notes = peak_notes_[event.block->device];
  notes = PeakNotes();
  notes.operator_name = event.block->operator_name;
  notes.user_name = event.block->user_name;
  notes.callstack = event.block->line_callstack();
  notes.phase = event.block->phase;
  if (RunsInsideOfRange(event)) notes.module = event.block->module;
  // state().live_bytes() may lack a block that device.peak includes: a block is not live in the replay if its
  // deallocation was recorded before its allocation.
  if (selects_blocks()) notes.of_all = std::max(state().live_bytes(event.block->device), device.peak.bytes);
  for (std::size_t i = 0; i < kStepSources; ++i) {
    const auto source = static_cast<StepSource>(i);
    // Before its first call, an optimizer is in step 0.
    if (steps().begun(source) > 0 || source == StepSource::kOptimizer) notes.steps[i] = steps().newest(source);
  }
}

void SummaryPass::SeeDeallocate(const DeallocateEvent& event) {
  CountEvent(event, event.cause == DeallocateCause::kRecorded);
  compile_peaks_.NoteDeallocation(*event.block);
  if (in_window() && grouping_.IsSeparate(*event.block))
    apart_[{event.process, MakerOf(*event.block)}] += {0, 0, 0, 0, event.block->bytes};
  table_.Remove(*event.block, in_window(), event.temporary, event.cause != DeallocateCause::kUnknown, event.tick);
}

void SummaryPass::SeeFirstSeen(const FirstSeenEvent& event) {
  if (!in_window()) return;
  DeviceTable& device = table_.device(event.tensor->device, event.process);
  device.first_seen += 1;
  device.first_seen_bytes += event.tensor->storage_bytes;
}

void SummaryPass::SeeMark(const MarkEvent& event) {
  CountEvent(event, true);
  const std::string_view name = state().dictionary().text(event.name);
  if (!in_window() || IsHolderNote(name) || IsFullStepsNote(name)) return;
  ++summary_.mark_count;
  if (summary_.marks.size() == kMaxMarks) return;
  summary_.marks.push_back({std::string(name), Nanoseconds(event), event.process});
}

void SummaryPass::SeeStepBegin(StepSource source, const Event&) {
  window_steps_[static_cast<std::size_t>(source)] += in_window();
  if (source == StepSource::kProgram) step_is_empty_ = true;
}

void SummaryPass::SeeProcessBegin(const ProcessEvent&) {
  process_begin_ = {summary_.events, summary_.operator_calls, calls_};
}

void SummaryPass::SeeProcessEnd(const ProcessEvent& event) {
  for (const Block& segment : new_segments_)
    table_.AddReserved(segment.device, event.process,
                       CellOf(grouping_.GroupOf(segment, event.process, state().dictionary()), false), segment.bytes);
  new_segments_.clear();
  spans_.Add(spans());
  const StepSource source = steps().source();
  step_sources_[event.process] = source;
  summary_.step_source = std::max(summary_.step_source, source);
  summary_.steps += window_steps_[static_cast<std::size_t>(source)];
  window_steps_ = {};
  last_step_has_blocks_ |= source == StepSource::kProgram && !std::exchange(step_is_empty_, false);
  const ProcessSummary& process = capture().processes()[event.process.value];
  ns_per_tick_.resize(capture().processes().size(), 1);
  if (process.last_tick <= process.first_tick) return;
  const std::uint64_t begin = state().Nanoseconds(event.process, process.first_tick);
  const std::uint64_t end = state().Nanoseconds(event.process, process.last_tick);
  ns_per_tick_[event.process.value] =
      static_cast<double>(end - begin) / static_cast<double>(process.last_tick - process.first_tick);
}

void SummaryPass::SeeEnd(const ReplayReport& report) {
  if (stopped()) return;
  summary_.by = grouping_.by();
  // The report's number of events also contains deallocations of unknown blocks.
  if (selection().window.kind == SelectionWindow::Kind::kAll && !selection().device)
    summary_.events = std::max(summary_.events, AllEvents(report));
  // A whole recording counts as one window, even if it has several processes.
  summary_.windows = selection().window.kind == SelectionWindow::Kind::kAll ? 1 : windows();
  summary_.threads = static_cast<std::uint64_t>(std::count(thread_has_events_.begin(), thread_has_events_.end(), true));
  summary_.last_step_is_empty = summary_.step_source == StepSource::kProgram && summary_.steps > 1 &&
                                selection().window.kind == SelectionWindow::Kind::kAll &&
                                selection().takes_all_blocks() && !selection().device && !last_step_has_blocks_;
  spans_.Merge();
  summary_.duration_ns = spans_.total_ns();
  FinishDevices();
  FinishRows();
  FinishProcesses(report);
}

void SummaryPass::FinishProcesses(const ReplayReport& report) {
  for (const ProcessSummary& process : capture().processes()) {
    if (selection().rank && process.rank() != selection().rank) continue;
    const ReplayReport::Process& seen = report.processes[process.id.value];
    summary_.processes.push_back(
        {process.id, process.rank(), process.info.pid(), seen.duration_ns, seen.counters, seen.end});
    summary_.dropped_events += seen.counters.dropped_records() + seen.counters.lost_events();
  }
}

}  // namespace memoir
