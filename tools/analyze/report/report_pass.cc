#include "tools/analyze/report/report_pass.h"

#include <algorithm>
#include <utility>

#include "tools/model/full_steps_note.h"
#include "tools/model/holder_note.h"

namespace memoir {

ReportPass::Track& ReportPass::TrackOf(DeviceId id, ProcessId process) {
  const auto known = tracks_.find(id);
  if (known != tracks_.end()) return known->second;
  const auto outline = outlines_.find(id);
  DeviceOutline seen;
  seen.begin_ns = begin_ns_;
  if (outline != outlines_.end()) seen = outline->second;
  const TimeBuckets buckets = {seen.begin_ns, seen.end_ns, options_.buckets};
  Track& track = tracks_.try_emplace(id, seen, buckets, groupings_).first->second;
  ReportDevice& shown = track.shown;
  shown.name = ToString(state().dictionary().device(id));
  shown.process = process;
  shown.rank = capture().processes()[process.value].rank();
  shown.begin_ns = buckets.begin_ns;
  shown.end_ns = buckets.end_ns;
  track.next_regular_ns = buckets.begin_ns;
  return track;
}

template <class Add>
void ReportPass::AddToSums(Track& track, const LiveBlock& live, Add add) {
  add(track.path_sums[live.block.path]);
  add(track.caller_sums[live.block.caller]);
  add(track.shown.places[live.place]);
}

ReportPass::LiveBlock& ReportPass::LiveOf(const Block& block) {
  if (block.slot == Block::kNoSlot) return late_;
  if (block.slot >= live_.size()) live_.resize(block.slot + std::size_t{1});
  return live_[block.slot];
}

void ReportPass::SeeAllocate(const AllocateEvent& event) {
  event_ = &event;
  ChangePass::SeeAllocate(event);
}

void ReportPass::SeeBlockAdded(const Block& block, const Event& event) {
  if (opened_ == 0) return NoteBefore(block);
  if (is_shown()) AddBlock(block, event.process, Nanoseconds(event), !in_window());
}

// `before`: the block was allocated outside of the selection, so the report does not contain its origin.
void ReportPass::AddBlock(const Block& block, ProcessId process, std::uint64_t ns, bool before) {
  Track& track = TrackOf(block.device, process);
  LiveBlock& live = LiveOf(block);
  live = {};
  live.device = block.device;
  live.before = before;
  live.block.address = block.address;
  live.block.bytes = block.bytes;
  live.block.begin_ns = ns;
  live.block.from_before = before || block.origin != BlockOrigin::kRecorded;
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    const bool then = before && !NeedsCategories(groupings_[i]->by());
    live.block.labels[i] = track.labels.LabelOf(i, groupings_[i]->GroupOf(block, process, state().dictionary(), then),
                                                then, capture(), state().dictionary(), &track.shown);
  }
  const bool has_path = !before && event_->stack != nullptr;
  live.block.path = before     ? paths_.BeforeNode()
                    : has_path ? paths_.NodeOf(event_->thread, *event_->stack, state(), event_->base)
                               : 0;
  live.block.caller = live.block.from_before ? callers_.NodeOf(CallerNode::Kind::kBefore)
                                             : callers_.NodeOf(block, state().dictionary());
  live.place = track.labels.PlaceOf(live.block, &track.shown);
  if (live.block.path >= track.path_sums.size()) track.path_sums.resize(paths_.nodes().size());
  if (live.block.caller >= track.caller_sums.size()) track.caller_sums.resize(callers_.nodes().size());
  const bool counts = !before && !event_->before;
  if (counts) AddToSums(track, live, [&](ReportSums& sums) { sums.allocated_bytes += block.bytes; });
  track.allocated.Add(live.block.begin_ns, block.bytes, live.block.labels);
  ++track.shown.all_blocks;
}

void ReportPass::SeeDeallocate(const DeallocateEvent& event) {
  ended_ = &event;
  ChangePass::SeeDeallocate(event);
}

void ReportPass::SeeBlockRemoved(const Block& block) {
  if (opened_ == 0 && block.slot < before_.size()) before_[block.slot] = Block();
  if (!is_shown()) return;
  LiveBlock& live = LiveOf(block);
  Track& track = TrackOf(block.device, ended_->process);
  const std::uint64_t ns = Nanoseconds(*ended_);
  track.allocated.Remove(ns, live.block.bytes, live.block.labels);
  if (ended_->temporary && in_window() && !live.before)
    AddToSums(track, live, [&](ReportSums& sums) { sums.temporary_bytes += live.block.bytes; });
  EndBlock(live, ns, false);
}

void ReportPass::EndBlock(LiveBlock& live, std::uint64_t end_ns, bool is_live) {
  Track& track = TrackOf(live.device, ProcessId());
  const std::uint64_t life_ns = end_ns - std::min(end_ns, live.block.begin_ns);
  if (live.kept || WeightOf(live.block.bytes, life_ns) >= track.outline.least_weight) {
    live.block.end_ns = is_live ? ReportBlock::kLive : end_ns;
    track.shown.blocks.push_back(live.block);
  }
  if (is_live) AddToSums(track, live, [&](ReportSums& sums) { sums.net_bytes += live.block.bytes; });
  live.device = DeviceId();
}

void ReportPass::NoteMemory(DeviceId id, Track& track, std::uint64_t ns) const {
  const DeviceMemory& memory = state().memory(id);
  if (!memory.caching()) return;
  track.active.Set(ns, memory.active().all);
  track.reserved.Set(ns, memory.reserved().all);
}

void ReportPass::SeeChange(const Event& event, DeviceId id, Device& device) {
  if (!is_shown()) return;
  Track& track = TrackOf(id, event.process);
  const std::uint64_t ns = Nanoseconds(event);
  NoteMemory(id, track, ns);
  if (!is_inside()) return;
  if (device.changes == track.outline.peak_change && !std::exchange(track.has_peak, true))
    TakeInstant(id, track, {ReportInstant::Kind::kPeak, "", ns});
  if (ns < track.next_regular_ns || track.regular > kRegularInstants) return;
  ++track.regular;
  TakeInstant(id, track, {ReportInstant::Kind::kRegular, "", ns});
  track.next_regular_ns = ns + (track.outline.end_ns - track.outline.begin_ns) / kRegularInstants + 1;
}

// Adds an exact instant: keeps every block that is live now. Adds no regular instant if all blocks are kept anyway.
void ReportPass::TakeInstant(DeviceId id, Track& track, ReportInstant instant) {
  const bool is_peak = instant.kind == ReportInstant::Kind::kPeak;
  if (!is_peak && track.outline.least_weight == 0 && instant.kind == ReportInstant::Kind::kRegular) return;
  for (LiveBlock& live : live_) {
    if (live.device != id) continue;
    live.kept = true;
    instant.bytes += live.block.bytes;
    ++instant.blocks;
    if (is_peak) AddToSums(track, live, [&](ReportSums& sums) { sums.bytes_at_peak += live.block.bytes; });
  }
  others_.Keep(id);
  track.shown.instants.push_back(std::move(instant));
}

void ReportPass::SeeSegment(const SegmentEvent& event) {
  if (!is_shown()) return ChangePass::SeeSegment(event);
  const Block& segment = *event.segment;
  Track& track = TrackOf(segment.device, event.process);
  const bool grows = event.grows() || event.action == SegmentAction::kFound;
  if (track.shown.segments.size() < kMostSegmentChanges) {
    track.shown.segments.push_back({Nanoseconds(event), grows, event.action == SegmentAction::kMap,
                                    DeviceMemory::IsSmallSegment(segment.bytes), segment.address, segment.bytes,
                                    segment.stream, segment.pool_graph, segment.pool_user});
  } else {
    track.shown.all_segments = false;
  }
  ChangePass::SeeSegment(event);
}

void ReportPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  if (!in_window()) return;
  Track& track = TrackOf(event.asked->device, event.process);
  if (++track.shown.all_out_of_memory > kMostErrors) return;
  TakeInstant(event.asked->device, track, {ReportInstant::Kind::kOutOfMemory, "", Nanoseconds(event)});
}

void ReportPass::SeeMark(const MarkEvent& event) {
  const std::string name(state().dictionary().text(event.name));
  if (!in_window() || IsHolderNote(name) || IsFullStepsNote(name)) return;
  for (auto& [id, track] : tracks_) {
    if (++track.shown.all_marks <= kMostMarks)
      TakeInstant(id, track, {ReportInstant::Kind::kMark, name, Nanoseconds(event)});
  }
}

void ReportPass::SeeRangeBegin(const RangeBeginEvent& event) {
  iterations_.SeeRangeBegin(event, state().dictionary().text(event.range->name), Now(event));
}

std::uint32_t ReportPass::NameOf(NameId name) {
  const auto [known, added] = name_numbers_.try_emplace(name, static_cast<std::uint32_t>(report_.names.size()));
  if (added) report_.names.emplace_back(state().dictionary().text(name));
  return known->second;
}

}  // namespace memoir
