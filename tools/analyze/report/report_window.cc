// The part of ReportPass that handles the begin and end of windows, blocks that were allocated before the window, and
// blocks that the selection omits by module or size.
#include <algorithm>
#include <utility>

#include "tools/analyze/report/report_pass.h"

namespace memoir {

void ReportPass::NoteBefore(const Block& block) {
  if (block.slot == Block::kNoSlot) return;  // its deallocation follows immediately
  if (block.slot >= before_.size()) before_.resize(block.slot + std::size_t{1});
  before_[block.slot] = block;
}

// Adds the segments that exist when the window opens.
void ReportPass::AddReserved(ProcessId process, std::uint64_t ns) {
  for (const auto& [id, device] : devices()) {
    if (device.process != process || !outlines_.contains(id)) continue;
    Track& track = TrackOf(id, process);
    for (const auto& [address, piece] : state().memory(id).reserved_pieces())
      track.shown.segments.push_back(
          {ns, true, piece.mapped, piece.small, address, piece.bytes, piece.stream, piece.pool_graph, piece.pool_user});
  }
}

void ReportPass::SeeWindowOpen(const Event& event) {
  if (opened_++ == 0) {
    begin_ns_ = Nanoseconds(event);
    for (const Block& block : before_) {
      if (block.device.valid()) AddBlock(block, event.process, begin_ns_, true);
    }
    before_ = {};
    AddReserved(event.process, begin_ns_);
    AddFirstSteps(event.process);
  }
  ChangePass::SeeWindowOpen(event);
}

// Adds the steps that run when the window opens. If the selection contains step 0, events before the first step belong
// to step 0, which begins with the process.
void ReportPass::AddFirstSteps(ProcessId process) {
  steps_.AddRunning(steps(), begin_ns_);
  const Selection& asked = selection();
  if (asked.window.kind != SelectionWindow::Kind::kSteps || asked.window.first_step > 0) return;
  if (process.value >= asked.steps.size() || !asked.steps[process.value].first_is_before) return;
  steps_.AddZero(asked.steps[process.value].source, begin_ns_);
}

// Blocks that are live when the last window closes count as live at the end.
void ReportPass::SeeWindowClose(const Event& event) {
  const auto windows = windows_of_.find(event.process);
  if (++closed_ < (windows == windows_of_.end() ? 1 : windows->second)) return;
  end_ns_ = std::max(begin_ns_, Nanoseconds(event));
  for (auto& [id, track] : tracks_) TakeInstant(id, track, {ReportInstant::Kind::kEnd, "", end_ns_});
  for (LiveBlock& live : live_) {
    if (live.device.valid()) EndBlock(live, end_ns_, true);
  }
  live_.clear();
  is_over_ = true;
}

void ReportPass::NoteOther(const Event& event, DeviceId id) {
  if (is_shown() && outlines_.contains(id)) NoteMemory(id, TrackOf(id, event.process), Nanoseconds(event));
}

void ReportPass::SeeOtherAllocate(const AllocateEvent& event) {
  if (is_over_) return;
  if (state().dictionary().device(event.block->device).type == "cuda")
    others_.NoteAllocation(*event.block, Nanoseconds(event));
  NoteOther(event, event.block->device);
}

void ReportPass::SeeOtherDeallocate(const DeallocateEvent& event) {
  others_.NoteDeallocation(*event.block, Nanoseconds(event), opened_ > 0);
  NoteOther(event, event.block->device);
}

}  // namespace memoir
