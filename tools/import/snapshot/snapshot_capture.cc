#include "tools/import/snapshot/snapshot_capture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/import/files/part_writer.h"
#include "tools/import/files/source_names.h"
#include "tools/import/snapshot/allocator_history.h"

namespace memoir {
namespace {

using TraceEntry = TorchSnapshot::TraceEntry;
using Index = TorchSnapshot::Index;

constexpr std::uint64_t kFirstTick = 1'000'000;
constexpr std::size_t kMostOpen = 1000;  // limit of open annotations; a hostile file may have millions
constexpr char kNoContext[] = "N/A";     // torch's text for a missing compile id

std::optional<v1::EventKind> EventOf(TraceKind kind) {
  switch (kind) {
    case TraceKind::kAlloc:
      return v1::BLOCK_ALLOCATE;
    case TraceKind::kFreeRequested:
      return v1::DEALLOCATE;
    case TraceKind::kFreeCompleted:
      return v1::DEALLOCATE_COMPLETED;
    case TraceKind::kSegmentAlloc:
      return v1::SEGMENT_ALLOCATE;
    case TraceKind::kSegmentFree:
      return v1::SEGMENT_FREE;
    case TraceKind::kSegmentMap:
      return v1::SEGMENT_MAP;
    case TraceKind::kSegmentUnmap:
      return v1::SEGMENT_UNMAP;
    case TraceKind::kOutOfMemory:
      return v1::OUT_OF_MEMORY;
    default:
      return std::nullopt;
  }
}

// A device of the snapshot while its trace is written.
struct Device {
  std::uint32_t index = 0;
  std::uint32_t number = 0;  // number in the capture
  std::size_t next = 0;      // index of the next trace entry
  std::uint64_t serial = 0, ooms = 0;
  std::unique_ptr<AllocatorHistory> history;
};

class SnapshotWriter {
 public:
  SnapshotWriter(const TorchSnapshot& snapshot, v1::ProcessInfo info, std::uint64_t start_us,
                 const std::function<absl::Status(std::string_view)>& write)
      : snapshot_(snapshot),
        start_us_(start_us),
        writer_(std::move(info), write),
        codes_(snapshot.frames.size()),
        stacks_(snapshot.stacks.size()),
        names_(snapshot.texts.size()),
        operators_(snapshot.texts.size()) {
    writer_.SetThread(writer_.AddThread({.os_id = 0, .torch_id = 1, .name = "not known"}));
  }

  void AddDevice(std::uint32_t index, std::unique_ptr<AllocatorHistory> history);
  void AddStart();
  void AddHistory();
  absl::Status Finish();

 private:
  std::uint64_t TickOf(std::uint64_t us);
  std::uint32_t StackOf(Index stack);
  std::uint32_t NameOf(Index text);
  std::uint32_t OperatorOf(Index text);
  void AddFound(Device& device);
  void AddFoundBlock(Device& device, const AllocatorHistory::Block& block);
  void AddEntry(Device& device);
  void AddAnnotation(const TorchSnapshot::Annotation& annotation);
  void SetMetadata(std::uint64_t tick, Index metadata, Index context);
  void SetOperatorRanges(std::uint64_t tick, Index node, Index operator_name);
  void LeaveAll(std::uint64_t tick);
  void AddStatistics(Device& device);

  const TorchSnapshot& snapshot_;
  const std::uint64_t start_us_;
  PartWriter writer_;
  std::vector<Device> devices_;
  std::vector<std::uint32_t> codes_, stacks_, names_, operators_;  // numbers in the capture; 0: not defined yet
  std::uint64_t tick_ = kFirstTick;
  std::size_t annotation_ = 0;                        // index of the next annotation
  std::vector<Index> open_;                           // annotations that have begun and not ended
  absl::flat_hash_map<Index, std::uint64_t> to_end_;  // by name: number of later ends that close no range
  // The values of the newest written entry.
  Index metadata_ = 0, context_ = 0, node_ = 0, operator_ = 0;
};

// Returns a tick that never decreases, although the times of entries from several threads can decrease. Entries without
// a time are 1 µs apart.
std::uint64_t SnapshotWriter::TickOf(std::uint64_t us) {
  const std::uint64_t tick = us == 0 ? tick_ + 1000 : kFirstTick + (us - std::min(us, start_us_)) * 1000;
  return tick_ = std::max(tick_, tick);
}

std::uint32_t SnapshotWriter::StackOf(Index stack) {
  std::vector<Index> missing;
  for (Index at = stack; at != 0 && stacks_[at] == 0; at = snapshot_.stacks[at].parent) missing.push_back(at);
  for (; !missing.empty(); missing.pop_back()) {
    const auto [parent, frame] = snapshot_.stacks[missing.back()];
    const TorchSnapshot::Frame& there = snapshot_.frames[frame];
    std::uint32_t& code = codes_[frame];
    if (code == 0) code = writer_.AddCode(snapshot_.texts[there.file], snapshot_.texts[there.function]);
    stacks_[missing.back()] = writer_.AddStack(stacks_[parent], code, there.line);
  }
  return stacks_[stack];
}

std::uint32_t SnapshotWriter::NameOf(Index text) {
  std::uint32_t& name = names_[text];
  if (name == 0) name = writer_.AddText(snapshot_.texts[text]);
  return name;
}

std::uint32_t SnapshotWriter::OperatorOf(Index text) {
  std::uint32_t& name = operators_[text];
  if (name == 0) name = writer_.AddOperator(snapshot_.texts[text]);
  return name;
}

void SnapshotWriter::AddDevice(std::uint32_t index, std::unique_ptr<AllocatorHistory> history) {
  devices_.push_back({.index = index, .number = writer_.AddDevice("cuda", index), .history = std::move(history)});
}

// Writes the state before the first entry. Readers treat the list of found blocks as one snapshot, up to the first
// other event. A pending free is such an event, so blocks with a pending free are written first.
void SnapshotWriter::AddStart() {
  for (Device& device : devices_) AddFound(device);
}

void SnapshotWriter::AddFound(Device& device) {
  const std::uint64_t found = ++device.serial;
  for (const auto& [address, piece] : device.history->first_pieces()) {
    const TorchSnapshot::Pool pool = snapshot_.pools[piece.pool];
    writer_.AddMemory(tick_, {.kind = v1::SEGMENT_FOUND,
                              .device = device.number,
                              .address = address,
                              .serial = found,
                              .bytes = piece.bytes,
                              .stream = snapshot_.streams[piece.stream],
                              .pool_graph = pool.graph,
                              .pool_user = pool.user});
  }
  for (const bool pending : {true, false}) {
    for (const AllocatorHistory::Block& block : device.history->first_blocks()) {
      if (block.pending == pending) AddFoundBlock(device, block);
    }
  }
  writer_.SetStack(tick_, 0);
}

void SnapshotWriter::AddFoundBlock(Device& device, const AllocatorHistory::Block& block) {
  const TorchSnapshot::Pool pool = snapshot_.pools[block.pool];
  writer_.SetStack(tick_, StackOf(snapshot_.origins[block.origin].stack));
  PartWriter::MemoryEvent memory = {.kind = v1::BLOCK_FOUND,
                                    .device = device.number,
                                    .address = block.address,
                                    .serial = 1,
                                    .bytes = block.bytes,
                                    .requested_bytes = block.requested_bytes,
                                    .stream = snapshot_.streams[block.stream],
                                    .pool_graph = pool.graph,
                                    .pool_user = pool.user};
  writer_.AddMemory(tick_, memory);
  if (!block.pending) return;
  memory.kind = v1::DEALLOCATE;
  memory.serial = ++device.serial;
  writer_.AddMemory(tick_, memory);
}

// Writes the entries of all devices and the annotations, by time.
void SnapshotWriter::AddHistory() {
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  while (true) {
    Device* first = nullptr;
    std::uint64_t us = kNever;
    for (Device& device : devices_) {
      const std::vector<TraceEntry>& trace = snapshot_.traces[device.index];
      if (device.next == trace.size() || (first != nullptr && trace[device.next].us >= us)) continue;
      first = &device;
      us = trace[device.next].us;
    }
    const bool annotated = annotation_ < snapshot_.annotations.size();
    if (annotated && (first == nullptr || snapshot_.annotations[annotation_].us <= us)) {
      AddAnnotation(snapshot_.annotations[annotation_++]);
    } else if (first != nullptr) {
      AddEntry(*first);
    } else {
      break;
    }
  }
  LeaveAll(tick_);
  for (; !open_.empty(); open_.pop_back()) writer_.EndRange(tick_);
}

void SnapshotWriter::AddEntry(Device& device) {
  const TraceEntry& entry = snapshot_.traces[device.index][device.next];
  const std::uint64_t bytes = device.history->ApplyEntry(device.next++);
  const std::optional<v1::EventKind> kind = EventOf(entry.kind);
  if (!kind) return;
  const std::uint64_t tick = TickOf(entry.us);
  const bool freed = *kind == v1::DEALLOCATE || *kind == v1::DEALLOCATE_COMPLETED;
  const bool failed = *kind == v1::OUT_OF_MEMORY;
  if (!freed) {
    const TorchSnapshot::Origin& origin = snapshot_.origins[entry.origin];
    SetMetadata(tick, entry.metadata, entry.compile_context);
    SetOperatorRanges(tick, origin.node, origin.operator_name);
    writer_.SetStack(tick, StackOf(origin.stack));
  }
  if (failed) ++device.ooms;
  const TorchSnapshot::Pool pool = snapshot_.pools[entry.pool];
  writer_.AddMemory(tick, {.kind = *kind,
                           .device = device.number,
                           .address = failed ? 0 : entry.address,
                           .serial = ++device.serial,
                           .bytes = *kind == v1::BLOCK_ALLOCATE ? bytes : entry.bytes,
                           .requested_bytes = entry.bytes,
                           .stream = snapshot_.streams[entry.stream],
                           .pool_graph = pool.graph,
                           .pool_user = pool.user,
                           .device_free = failed ? entry.address : 0});
}

// Writes an annotation. The capture has one thread for the ranges of all threads. If two ranges overlap, the inner
// range ends with the outer range.
void SnapshotWriter::AddAnnotation(const TorchSnapshot::Annotation& annotation) {
  const std::uint64_t tick = TickOf(annotation.us);
  LeaveAll(tick);
  if (annotation.begins) {
    if (open_.size() == kMostOpen) {
      ++to_end_[annotation.name];
      return;
    }
    writer_.BeginRange(v1::RANGE_BEGIN_USER, tick, NameOf(annotation.name));
    open_.push_back(annotation.name);
    return;
  }
  if (const auto count = to_end_.find(annotation.name); count != to_end_.end() && count->second > 0) {
    --count->second;
    return;
  }
  if (std::ranges::find(open_, annotation.name) == open_.end()) return;  // began before the history
  while (open_.back() != annotation.name) {
    ++to_end_[open_.back()];
    open_.pop_back();
    writer_.EndRange(tick);
  }
  open_.pop_back();
  writer_.EndRange(tick);
}

void SnapshotWriter::LeaveAll(std::uint64_t tick) {
  SetOperatorRanges(tick, 0, 0);
  SetMetadata(tick, 0, 0);
}

// Sets the innermost user ranges: the compile id, and inside it the metadata that the program set for its thread.
void SnapshotWriter::SetMetadata(std::uint64_t tick, Index metadata, Index context) {
  if (context != 0 && snapshot_.texts[context] == kNoContext) context = 0;
  if (metadata == metadata_ && context == context_) return;
  SetOperatorRanges(tick, 0, 0);
  if (metadata_ != 0) writer_.EndRange(tick);
  if (context_ != 0) writer_.EndRange(tick);
  if (context != 0)
    writer_.BeginRange(v1::RANGE_BEGIN_USER, tick, writer_.AddText("compile id " + snapshot_.texts[context]));
  if (metadata != 0) writer_.BeginRange(v1::RANGE_BEGIN_USER, tick, NameOf(metadata));
  metadata_ = metadata;
  context_ = context;
}

// Sets the autograd node and its operator from the allocation's C++ frames. One operator's allocations share a range.
void SnapshotWriter::SetOperatorRanges(std::uint64_t tick, Index node, Index operator_name) {
  if (node == node_ && operator_name == operator_) return;
  if (operator_ != 0) writer_.EndRange(tick);
  if (node != node_) {
    if (node_ != 0) writer_.EndRange(tick);
    if (node != 0) writer_.BeginRange(v1::RANGE_BEGIN_BACKWARD, tick, NameOf(node));
  }
  if (operator_name != 0) writer_.BeginRange(v1::RANGE_BEGIN_FUNCTION, tick, OperatorOf(operator_name));
  node_ = node;
  operator_ = operator_name;
}

// Writes the snapshot's own sums, which readers compare with the events.
void SnapshotWriter::AddStatistics(Device& device) {
  PartWriter::Statistics sums;
  sums.ooms = device.ooms;
  for (const TorchSnapshot::Segment& segment : snapshot_.segments) {
    if (segment.device != device.index) continue;
    sums.reserved += segment.bytes;
    for (const TorchSnapshot::Block& block : segment.blocks) {
      if (block.state != TorchSnapshot::BlockState::kInactive) sums.active += block.bytes;
      if (block.state == TorchSnapshot::BlockState::kAllocated) sums.allocated += block.bytes;
    }
  }
  writer_.AddStatistics(tick_, device.number, ++device.serial, sums);
}

absl::Status SnapshotWriter::Finish() {
  for (Device& device : devices_) AddStatistics(device);
  return writer_.Finish();
}

// Returns the earliest time. 0 if no entry has a time.
std::uint64_t StartOf(const TorchSnapshot& snapshot) {
  std::uint64_t start = 0;
  const auto take = [&](std::uint64_t us) {
    if (us != 0 && (start == 0 || us < start)) start = us;
  };
  for (const std::vector<TraceEntry>& trace : snapshot.traces) {
    for (const TraceEntry& entry : trace) take(entry.us);
  }
  for (const TorchSnapshot::Annotation& annotation : snapshot.annotations) take(annotation.us);
  return start;
}

std::uint64_t UnknownEntries(const TorchSnapshot& snapshot) {
  std::uint64_t unknown = 0;
  for (const std::vector<TraceEntry>& trace : snapshot.traces)
    unknown += static_cast<std::uint64_t>(std::ranges::count(trace, TraceKind::kOther, &TraceEntry::kind));
  return unknown;
}

}  // namespace

absl::Status WriteSnapshotCapture(const TorchSnapshot& snapshot, const std::string& program,
                                  const std::function<absl::Status(std::string_view)>& write) {
  bool found = false, any = false;
  std::vector<std::pair<std::uint32_t, std::unique_ptr<AllocatorHistory>>> histories;
  for (std::uint32_t device = 0; device < snapshot.traces.size(); ++device) {
    const auto is_here = [&](const TorchSnapshot::Segment& segment) { return segment.device == device; };
    const std::vector<TraceEntry>& trace = snapshot.traces[device];
    if (trace.empty() && !std::ranges::any_of(snapshot.segments, is_here)) continue;
    any = any || !trace.empty();
    histories.emplace_back(device, std::make_unique<AllocatorHistory>(snapshot, device));
    found = found || !histories.back().second->first_pieces().empty();
  }
  const std::uint64_t start_us = StartOf(snapshot);
  v1::ProcessInfo info;
  info.set_format_version(1);
  info.set_rank_source("none");
  info.set_program(program);
  info.set_memoir_version(MEMOIR_VERSION);
  info.set_ticks_per_second(1'000'000'000);
  info.mutable_start()->set_tick(kFirstTick);
  info.mutable_start()->set_monotonic_ns(kFirstTick);
  info.mutable_start()->set_realtime_ns(start_us * 1000);
  info.add_sources(kTorchSnapshotSource);
  if (found) info.add_sources(any ? kCutHistorySource : kNoHistorySource);
  if (const std::uint64_t unknown = UnknownEntries(snapshot); unknown > 0) {
    v1::Unrecorded* const left_out = info.add_unrecorded();
    left_out->set_begin_tick(kFirstTick);
    left_out->set_why(absl::StrCat(unknown, unknown == 1 ? " entry of the trace is" : " entries of the trace are",
                                   " left out: Memoir does not know what they say of memory (\"action\")"));
  }
  SnapshotWriter writer(snapshot, std::move(info), start_us, write);
  for (auto& [device, history] : histories) writer.AddDevice(device, std::move(history));
  writer.AddStart();
  writer.AddHistory();
  return writer.Finish();
}

}  // namespace memoir
