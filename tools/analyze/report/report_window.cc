// The part of a report's pass that knows what its selection leaves out: what was live before the window, and other
// blocks.
#include <algorithm>
#include <utility>

#include "tools/analyze/report/report_pass.h"

namespace memoir {

void ReportPass::NoteBefore(const Block& block) {
  if (block.slot == Block::kNoSlot) return;  // it ends at once
  if (block.slot >= before_.size()) before_.resize(block.slot + std::size_t{1});
  before_[block.slot] = block;
}

// The segments that there are when the window opens.
void ReportPass::AddReserved(ProcessId process, std::uint64_t ns) {
  for (const auto& [id, device] : devices()) {
    if (device.process != process || !looks_.contains(id)) continue;
    Track& track = TrackOf(id, process);
    for (const auto& [address, piece] : state().memory(id).reserved_pieces())
      track.shown.segments.push_back(
          {ns, true, piece.mapped, piece.small, address, piece.bytes, piece.stream, piece.pool_graph, piece.pool_user});
  }
}

void ReportPass::WindowOpens(const Event& event) {
  if (opened_++ == 0) {
    begin_ns_ = Nanoseconds(event);
    for (const Block& block : before_) {
      if (block.device.valid()) AddBlock(block, event.process, begin_ns_, true);
    }
    before_ = {};
    AddReserved(event.process, begin_ns_);
    for (std::size_t i = 0; i < kStepSources; ++i) AddStep(static_cast<StepSource>(i), begin_ns_);
    AddStepZero(event.process);
  }
  ChangePass::WindowOpens(event);
}

// What comes before the first step is step 0 of a window that has it, and begins with the process.
void ReportPass::AddStepZero(ProcessId process) {
  const Selection& asked = selection();
  if (asked.window.kind != Window::Kind::kSteps || asked.window.first_step > 0) return;
  if (process.value >= asked.steps.size() || !asked.steps[process.value].first_is_before) return;
  Steps& begun = steps_[static_cast<std::size_t>(asked.steps[process.value].source)];
  if (!begun.ns.empty()) return;
  begun.ns.push_back(begin_ns_);
  ++begun.count;
}

// What is live when the last one closes is live at the end.
void ReportPass::WindowCloses(const Event& event) {
  const auto windows = windows_of_.find(event.process);
  if (++closed_ < (windows == windows_of_.end() ? 1 : windows->second)) return;
  end_ns_ = std::max(begin_ns_, Nanoseconds(event));
  for (auto& [id, track] : tracks_) TakeInstant(id, track, {ReportInstant::Kind::kEnd, "", end_ns_});
  for (Live& live : live_) {
    if (live.device.valid()) EndBlock(live, end_ns_, true);
  }
  live_.clear();
  is_over_ = true;
}

void ReportPass::NoteOther(const Event& event, DeviceId id) {
  if (is_shown() && looks_.contains(id)) NoteMemory(id, TrackOf(id, event.process), Nanoseconds(event));
}

void ReportPass::SeeOtherAllocate(const AllocateEvent& event) {
  if (is_over_) return;
  if (state().dictionary().device(event.block->device).type == "cuda")
    others_.Allocated(*event.block, Nanoseconds(event));
  NoteOther(event, event.block->device);
}

void ReportPass::SeeOtherDeallocate(const DeallocateEvent& event) {
  others_.Deallocated(*event.block, Nanoseconds(event), opened_ > 0);
  NoteOther(event, event.block->device);
}

// The newest step of a source, unless the window opened with it.
void ReportPass::AddStep(StepSource source, std::uint64_t ns) {
  Steps& begun = steps_[static_cast<std::size_t>(source)];
  const std::uint64_t step = steps().newest(source);
  if (steps().begun(source) == 0 || (!begun.ns.empty() && begun.last == step)) return;
  if (begun.ns.empty()) begun.first = step;
  begun.last = step;
  begun.last_ns = ns;
  ++begun.count;
  if (begun.ns.size() < kMostSteps) begun.ns.push_back(ns);
}

}  // namespace memoir
