#include "tools/analyze/segments/fragmentation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/instant.h"
#include "tools/analyze/segments/segment_book.h"
#include "tools/model/import_source.h"

namespace memoir {
namespace {

using DeviceInstants = std::map<DeviceId, std::vector<Instant>>;

// Finds the change after which the most bytes are unusable, and the last change.
class ExtremesPass : public ChangePass {
 public:
  using ChangePass::ChangePass;
  struct Extremes {
    std::uint64_t most = 0;
    Instant peak, end;
    UnusableCurve curve;
  };
  std::map<DeviceId, Extremes>& extremes() { return extremes_; }

  void OnKeyframe(const KeyframeEvent& event) override { RebuildAll(event); }
  void OnSwitch(const LevelChangeEvent& event) override { RebuildAll(event); }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override { books_.clear(); }
  void SeeAllocate(const AllocateEvent& event) override {
    books_[event.block->device].AddBlock(event.block->address, event.block->bytes);
    ChangePass::SeeAllocate(event);
  }
  void SeeDeallocate(const DeallocateEvent& event) override {
    if (event.cause != DeallocateCause::kRecorded) books_[event.block->device].RemoveBlock(event.block->address);
    ChangePass::SeeDeallocate(event);
  }
  void SeeFreeCompleted(const FreeCompletedEvent& event) override {
    if (event.bytes > 0) books_[event.device].RemoveBlock(event.address);
    ChangePass::SeeFreeCompleted(event);
  }
  void SeeSegment(const SegmentEvent& event) override;
  void SeeChange(const Event& event, DeviceId id, Device& device) override;
  // This event comes after all events of segments and blocks that the tracker found (DeviceMemory::is_being_found).
  void SeeDeviceStatistics(const DeviceStatisticsEvent& event) override {
    if (found_.erase(event.device) > 0) SeeChange(event, event.device, devices()[event.device]);
  }
  void SeeWindowClose(const Event& event) override {
    for (const auto& [id, device] : devices()) {
      if (device.process == event.process && state().memory(id).caching())
        extremes_[id].end = {device.changes, Nanoseconds(event)};
    }
  }

 private:
  void RebuildAll(const Event& event) {
    for (const auto& [id, device] : devices()) {
      if (device.process == event.process) books_[id].Rebuild(state(), id);
    }
  }
  std::map<DeviceId, SegmentBook> books_;
  std::map<DeviceId, Extremes> extremes_;
  bool in_between_ = false;   // true during a segment event: the block of a new segment has not been allocated yet
  std::set<DeviceId> found_;  // devices for which is_being_found() was true, and whose statistics did not follow yet
};

void ExtremesPass::SeeSegment(const SegmentEvent& event) {
  SegmentBook& book = books_[event.segment->device];
  const Block& at = *event.segment;
  if (event.action == SegmentAction::kFree || event.action == SegmentAction::kUnmap) {
    book.RemovePiece(at.address, at.bytes);
  } else {
    book.AddPiece(at.address, {at.bytes, at.stream, at.pool_graph, at.pool_user, DeviceMemory::IsSmallSegment(at.bytes),
                               event.action == SegmentAction::kMap});
  }
  in_between_ = true;
  ChangePass::SeeSegment(event);
  in_between_ = false;
}

void ExtremesPass::SeeChange(const Event& event, DeviceId id, Device& device) {
  const DeviceMemory& memory = state().memory(id);
  if (!in_window() || !memory.caching()) return;
  if (memory.is_being_found()) found_.insert(id);
  if (memory.is_being_found() || in_between_) return;
  const SegmentBook& book = books_[id];
  Extremes& extremes = extremes_[id];
  const std::uint64_t ns = Nanoseconds(event);
  extremes.curve.Add(ns, book.unusable(), book.reserved());
  if (book.unusable() <= extremes.most && extremes.peak.after != 0) return;
  extremes.most = book.unusable();
  extremes.peak = {device.changes, ns};
}

std::uint64_t Age(std::uint64_t now, std::uint64_t since) { return now > since ? now - since : 0; }

std::vector<Pin> SortedPins(const std::map<std::string, Pin>& by_name, std::uint64_t Pin::* measure) {
  std::vector<Pin> pins;
  for (const auto& [name, pin] : by_name) pins.push_back(pin);
  std::ranges::stable_sort(pins, std::ranges::greater(), measure);
  return pins;
}

// Collects the segments, and the blocks in them, at the wanted instants.
class SegmentsPass : public ChangePass {
 public:
  SegmentsPass(const Capture& capture, const Selection& selection, const DeviceInstants& wanted_instants)
      : ChangePass(capture, selection), wanted_instants_(wanted_instants) {}
  struct FoundDevice {
    std::string name;
    ProcessId process;
    std::optional<std::uint32_t> rank;
    std::vector<DeviceSegments> at;  // in the order of the device's instants
  };
  std::map<DeviceId, FoundDevice>& found() { return found_; }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override { last_step_.reset(); }
  void SeeStep(const StepEvent& event) override { last_step_ = event.step; }
  void SeeChange(const Event& event, DeviceId id, Device& device) override {
    const auto wanted = wanted_instants_.find(id);
    if (wanted == wanted_instants_.end()) return;
    FoundDevice& found = FoundOf(id, device.process);
    for (std::size_t i = 0; i < wanted->second.size(); ++i) {
      const Instant& instant = wanted->second[i];
      if (instant.after == device.changes && found.at[i].segments.empty())
        found.at[i] = TakeSegments(id, device.process, instant);
      if (instant.after + 1 == device.changes) found.at[i].until_ns = Nanoseconds(event);
    }
  }

 private:
  FoundDevice& FoundOf(DeviceId id, ProcessId process) {
    FoundDevice& found = found_[id];
    if (!found.at.empty()) return found;
    const auto wanted = wanted_instants_.find(id);
    found.name = ToString(state().dictionary().device(id));
    found.process = process;
    found.rank = capture().processes()[process.value].rank();
    for (const Instant& instant : wanted->second) found.at.emplace_back().ns = instant.ns;
    return found;
  }
  DeviceSegments TakeSegments(DeviceId id, ProcessId process, const Instant& instant);
  // Returns the operator that allocated the block. Returns the line if an imported history has no operator.
  std::string MakerNameOf(const Block& block) {
    const bool has_operator = MakerOf(block).valid() || block.origin == BlockOrigin::kFound;
    if (has_operator || !IsImported(capture())) return OperatorHolding(block, state().dictionary());
    SourceLine line = lines_.LineOf(block.line_callstack(), state().dictionary());
    line.file.erase(0, line.file.rfind('/') + 1);
    return line.known() ? ToString(line) : "(not known)";
  }
  SegmentBlockFacts FactsOf(const SegmentBlock& there, ProcessId process) {
    if (there.waiting) return {};
    const Dictionary& dictionary = state().dictionary();
    return {MakerNameOf(there.block), ModuleHolding(there.block, dictionary),
            state().Nanoseconds(process, there.block.tick)};
  }
  std::vector<Pin> PinsOf(const MappedSegment& segment, ProcessId process, std::uint64_t now,
                          std::map<std::string, Pin>& all);

  SourceLines lines_;
  const DeviceInstants& wanted_instants_;
  std::map<DeviceId, FoundDevice> found_;
  std::optional<std::uint64_t> last_step_;
};

std::vector<Pin> SegmentsPass::PinsOf(const MappedSegment& segment, ProcessId process, std::uint64_t now,
                                      std::map<std::string, Pin>& all) {
  std::map<std::string, Pin> own;
  for (const SegmentBlock& there : segment.blocks) {
    const Block& block = there.block;
    std::string name = there.waiting ? "(waiting for other streams)" : MakerNameOf(block);
    if (block.module.valid()) name += " in " + ModuleHolding(block, state().dictionary());
    Pin& pin = own[name];
    pin.name = std::move(name);
    ++pin.blocks;
    pin.bytes += block.bytes;
    const bool known = !there.waiting && block.origin == BlockOrigin::kRecorded;
    pin.from_before = pin.from_before || (!known && !there.waiting);
    if (known) pin.oldest_ns = std::max(pin.oldest_ns, Age(now, state().Nanoseconds(process, block.tick)));
  }
  if (segment.unusable == 0) return SortedPins(own, &Pin::bytes);
  for (auto& [name, pin] : own) {
    pin.segments = 1;
    pin.unusable = segment.unusable;
    Pin& sum = all[name];
    sum.name = name;
    sum.blocks += pin.blocks;
    sum.bytes += pin.bytes;
    sum.segments += 1;
    sum.unusable += segment.unusable;
    sum.oldest_ns = std::max(sum.oldest_ns, pin.oldest_ns);
    sum.from_before = sum.from_before || pin.from_before;
  }
  return SortedPins(own, &Pin::bytes);
}

DeviceSegments SegmentsPass::TakeSegments(DeviceId id, ProcessId process, const Instant& instant) {
  DeviceSegments at;
  at.ns = instant.ns;
  at.step = last_step_;
  std::map<std::tuple<PoolId, std::uint64_t>, PoolRow> places;
  std::map<std::string, Pin> pins;
  for (MappedSegment& segment : MapSegments(state(), id).segments) {
    PoolRow& place = places[{segment.pool(), segment.piece.stream}];
    place.pool = segment.pool();
    place.stream = segment.piece.stream;
    ++place.segments;
    place.reserved += segment.piece.bytes;
    place.used += segment.used;
    place.unusable += segment.unusable;
    place.largest_hole = std::max(place.largest_hole, segment.largest_hole());
    SegmentRow row;
    row.pins = PinsOf(segment, process, instant.ns, pins);
    for (const SegmentBlock& there : segment.blocks) row.facts.push_back(FactsOf(there, process));
    row.segment = std::move(segment);
    at.segments.push_back(std::move(row));
  }
  for (const auto& [where, place] : places) {
    at.reserved += place.reserved;
    at.used += place.used;
    at.unusable += place.unusable;
    at.largest_hole = std::max(at.largest_hole, place.largest_hole);
    at.places.push_back(place);
  }
  std::ranges::stable_sort(at.places, std::ranges::greater(), &PoolRow::unusable);
  at.pins = SortedPins(pins, &Pin::unusable);
  return at;
}

}  // namespace

bool IsFragmented(const DeviceSegments& instant) {
  constexpr std::uint64_t kLeast = 64u << 20;
  return instant.unusable >= kLeast && instant.unusable >= instant.reserved / 10;
}

Task<absl::StatusOr<Fragmentation>> AnalyzeFragmentation(JointReplays& replays, Selection selection) {
  ExtremesPass extremes(replays.capture(), selection);
  absl::StatusOr<ReplayReport> report = co_await replays.Next(extremes);
  if (!report.ok()) co_return report.status();
  if (!extremes.selection_status().ok()) co_return extremes.selection_status();
  DeviceInstants wanted_instants;
  for (const auto& [id, of] : extremes.extremes()) wanted_instants[id] = {of.peak, of.end};
  SegmentsPass pass(replays.capture(), selection, wanted_instants);
  report = co_await replays.Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  Fragmentation result;
  for (auto& [id, found] : pass.found()) {
    result.devices.push_back({found.name, found.process, found.rank, std::move(found.at[0]), std::move(found.at[1]),
                              extremes.extremes()[id].curve.Take()});
  }
  if (!HasSegments(replays.capture())) result.devices.clear();
  result.report = *std::move(report);
  co_return result;
}

absl::StatusOr<Fragmentation> AnalyzeFragmentation(const Capture& capture, const Selection& selection) {
  JointReplays replays(capture, selection);
  return replays.Finish(AnalyzeFragmentation(replays, selection));
}

absl::StatusOr<SegmentMaps> MapSegments(const Capture& capture, const Selection& selection, const InstantChoice& at) {
  JointReplays replays(capture, selection);
  const absl::StatusOr<Instants> instants = replays.Finish(FindInstants(replays, selection, at));
  if (!instants.ok()) return instants.status();
  DeviceInstants wanted_instants;
  for (const auto& [id, instant] : *instants) wanted_instants[id] = {instant};
  SegmentsPass pass(capture, selection, wanted_instants);
  absl::StatusOr<ReplayReport> report = replays.Finish(replays.Run(pass, {.modules = true}));
  if (!report.ok()) return report.status();
  SegmentMaps result;
  for (auto& [id, found] : pass.found()) {
    if (!found.at.front().segments.empty())
      result.devices.push_back({found.name, found.process, found.rank, std::move(found.at.front())});
  }
  if (!HasSegments(capture)) result.devices.clear();
  result.report = *std::move(report);
  return result;
}

}  // namespace memoir
