#include "tools/analyze/summary/pass/peak_moments.h"

#include <algorithm>

namespace memoir {
namespace {

// Returns true if a module, or its backward, ran inside of the innermost user range. For example, the closure of an
// optimizer's step, which is a user range, can call a module. An autograd node runs on a thread without the user range,
// so every block of backward counts as allocated inside of the range.
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

void PeakMoments::OpenWindow(const Event& event) {
  compile_peaks_.SeeWindowOpen(shared_.table.devices(), event.process);
  NotePeakAtBegin(event);
}

// The bytes that are live when a window opens may be the peak of the window. In this case no operator reached it.
void PeakMoments::NotePeakAtBegin(const Event& event) {
  for (std::size_t i = 0; i < shared_.table.devices().size(); ++i) {
    const DeviceTable& table = shared_.table.devices()[i];
    const bool is_peak = table.peak_tick == event.tick && table.live.bytes == table.peak.bytes && table.peaks > 0;
    if (!table.used || table.process != event.process || !is_peak) continue;
    const DeviceId id{static_cast<std::uint32_t>(i)};
    moments_[id] = {};
    if (shared_.window.selects_blocks())
      moments_[id].of_all = std::max(shared_.replay().live_bytes(id), table.peak.bytes);
  }
}

void PeakMoments::NoteAllocation(const AllocateEvent& event) {
  const Block& block = *event.block;
  const DeviceTable& device = shared_.table.device(block.device, event.process);
  compile_peaks_.NoteAllocation(block, device, shared_.in_window());
  // The block made the peak if the device reached the peak at this tick.
  const bool is_peak = device.peak_tick == event.tick && device.live.bytes == device.peak.bytes;
  if (!is_peak) return;
  const bool is_of_keyframe = block.origin == BlockOrigin::kKeyframe;
  if (is_of_keyframe) moments_.erase(block.device);
  if (!shared_.in_window() || is_of_keyframe) return;
  if (shared_.replay().memory(block.device).caching()) caching_.NoteAtPeak(block.device);
  if (event.before && !block.operator_name.valid()) return;
  moments_[block.device] = MomentOf(event, device);
}

PeakMoments::Moment PeakMoments::MomentOf(const AllocateEvent& event, const DeviceTable& device) const {
  Moment moment;
  moment.operator_name = event.block->operator_name;
  moment.user_name = event.block->user_name;
  moment.callstack = event.block->line_callstack();
  moment.phase = event.block->phase;
  if (RunsInsideOfRange(event)) moment.module = event.block->module;
  // live_bytes() may lack a block that device.peak includes: a block is not live in the replay if its deallocation was
  // recorded before its allocation.
  if (shared_.window.selects_blocks())
    moment.of_all = std::max(shared_.replay().live_bytes(event.block->device), device.peak.bytes);
  const StepCounter& steps = shared_.window.steps();
  for (std::size_t i = 0; i < kStepSources; ++i) {
    const auto source = static_cast<StepSource>(i);
    // The time before the first call of an optimizer is step 0.
    if (steps.begun(source) > 0 || source == StepSource::kOptimizer) moment.steps[i] = steps.newest(source);
  }
  return moment;
}

void PeakMoments::FillRow(DeviceId id, StepSource source, DeviceRow& row) {
  const Dictionary& dictionary = shared_.dictionary();
  if (const auto found = moments_.find(id); found != moments_.end()) {
    const Moment& moment = found->second;
    row.peak_of_all_bytes = moment.of_all;
    row.peak_operator = dictionary.text(moment.operator_name);
    row.peak_line = lines_.LineOf(moment.callstack, dictionary);
    row.peak_range = dictionary.text(moment.user_name);
    if (moment.module.valid()) row.peak_module = dictionary.module(moment.module).display_path();
    row.peak_phase = moment.phase;
    row.peak_step = moment.steps[static_cast<std::size_t>(source)];
  }
  compile_peaks_.Finish(id, row);
}

}  // namespace memoir
