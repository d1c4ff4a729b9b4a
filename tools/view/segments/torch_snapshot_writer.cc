#include "tools/view/segments/torch_snapshot_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace memoir {
namespace {

std::string_view WordFor(TraceAction action) {
  switch (action) {
    case TraceAction::kAlloc:
      return "alloc";
    case TraceAction::kFreeRequested:
      return "free_requested";
    case TraceAction::kFreeCompleted:
      return "free_completed";
    case TraceAction::kSegmentAlloc:
      return "segment_alloc";
    case TraceAction::kSegmentFree:
      return "segment_free";
    case TraceAction::kSegmentMap:
      return "segment_map";
    case TraceAction::kSegmentUnmap:
      return "segment_unmap";
    case TraceAction::kOutOfMemory:
      return "oom";
  }
  return "alloc";
}

std::string PlaceOf(const Module& module) { return module.full_path(); }

struct SegmentSums {
  std::uint64_t allocated = 0, active = 0, requested = 0;
};

std::uint64_t RequestedBytes(const Block& block) {
  return block.requested_bytes != 0 ? block.requested_bytes : block.bytes;
}

SegmentSums SumsOf(const MappedSegment& segment) {
  SegmentSums sums;
  for (const SegmentBlock& there : segment.blocks) {
    sums.active += there.block.bytes;
    sums.requested += RequestedBytes(there.block);
    if (!there.waiting && !there.left_out) sums.allocated += there.block.bytes;
  }
  return sums;
}

}  // namespace

TorchSnapshotWriter::TorchSnapshotWriter(const BlockCategories& categories, std::uint64_t start_us,
                                         std::function<void(std::string_view)> write)
    : categories_(categories), start_us_(start_us), pickle_(std::move(write)) {
  pickle_.BeginDictionary();
  Key("device_traces");
  pickle_.BeginList();
}

void TorchSnapshotWriter::Shared(const std::string& text) {
  const auto [known, added] = texts_.try_emplace(text, remembered_);
  if (!added) return pickle_.Recall(known->second);
  pickle_.Remember(text, remembered_++);
}

void TorchSnapshotWriter::Key(std::string_view key) { Shared(std::string(key)); }

void TorchSnapshotWriter::Integer(std::string_view key, std::uint64_t value) {
  Key(key);
  pickle_.Integer(value);
}

void TorchSnapshotWriter::BeginDevice(std::uint32_t) { pickle_.BeginList(); }
void TorchSnapshotWriter::EndDevice() { pickle_.EndList(); }

void TorchSnapshotWriter::AddFrame(const std::string& file, std::uint32_t line, const std::string& function) {
  pickle_.BeginDictionary();
  Key("filename");
  Shared(file);
  Integer("line", line);
  Key("name");
  Shared(function);
  pickle_.EndDictionary();
}

// Writes the innermost frame first. If there is no Python stack, writes the operator and its module instead.
void TorchSnapshotWriter::AddFrames(const Block* block, const ReplayState& state) {
  Key("frames");
  const Dictionary& dictionary = state.dictionary();
  const StackId stack = block == nullptr ? StackId() : block->line_callstack();
  const NameId maker = block == nullptr ? NameId() : block->operator_name;
  const ModuleId module = block == nullptr ? ModuleId() : block->module;
  const std::uint64_t place = (std::uint64_t{module.value} << 32) | maker.value;
  const auto [known, added] = stack.valid() ? frames_.try_emplace(stack.value, 0) : places_.try_emplace(place, 0);
  std::uint32_t& number = known->second;
  if (!added) return pickle_.Recall(number);
  pickle_.BeginList();
  for (const Frame& frame : dictionary.Frames(stack)) {
    const Code& code = dictionary.code(frame.code);
    AddFrame(code.file, frame.line, code.function);
  }
  if (!stack.valid() && maker.valid()) AddFrame("", 0, std::string(dictionary.text(maker)));
  if (!stack.valid() && module.valid()) AddFrame("", 0, PlaceOf(dictionary.module(module)));
  pickle_.EndList();
  number = remembered_++;
  pickle_.Keep(number);
}

void TorchSnapshotWriter::AddMetadata(const Block& block, const ReplayState& state) {
  const Dictionary& dictionary = state.dictionary();
  std::string text = "category: " + LabelOfCategory(categories_.CategoryOf(block));
  if (block.module.valid()) text += "; module: " + PlaceOf(dictionary.module(block.module));
  if (block.operator_name.valid()) text += "; operator: " + std::string(dictionary.text(block.operator_name));
  text += "; phase: " + std::string(ToString(block.phase));
  Key("user_metadata");
  Shared(text);
}

void TorchSnapshotWriter::See(const TraceEntry& entry, const ReplayState& state) {
  pickle_.BeginDictionary();
  Key("action");
  Key(WordFor(entry.action));
  const bool failed = entry.action == TraceAction::kOutOfMemory;
  Integer(failed ? "device_free" : "addr", failed ? entry.device_free : entry.address);
  Integer("size", entry.bytes);
  Integer("stream", entry.stream);
  Integer("time_us", start_us_ + entry.ns / 1000);
  AddFrames(entry.made_here ? entry.block : nullptr, state);
  const bool is_block = entry.action == TraceAction::kAlloc || entry.action == TraceAction::kFreeRequested;
  if (entry.block != nullptr && is_block) AddMetadata(*entry.block, state);
  pickle_.EndDictionary();
}

void TorchSnapshotWriter::AddBlock(std::uint64_t address, std::uint64_t bytes, const SegmentBlock* there,
                                   const ReplayState& state) {
  // A block that is left out is written in the state active_pending_free, without frames. Viewers count such a block as
  // used, but omit it from views over time.
  const bool live = there != nullptr && !there->waiting && !there->left_out;
  pickle_.BeginDictionary();
  Integer("address", address);
  Integer("size", bytes);
  Integer("requested_size", there == nullptr ? 0 : std::min(bytes, RequestedBytes(there->block)));
  Key("state");
  Key(live ? "active_allocated" : there != nullptr ? "active_pending_free" : "inactive");
  AddFrames(live ? &there->block : nullptr, state);
  if (live) AddMetadata(there->block, state);
  if (there != nullptr && there->left_out) {
    Key("user_metadata");
    Shared("left out by --module or --min-size: live, and not among the entries");
  }
  pickle_.EndDictionary();
}

// Writes the blocks and the free parts between them, because torch's readers expect the whole segment.
void TorchSnapshotWriter::AddBlocks(const MappedSegment& segment, const ReplayState& state) {
  const std::uint64_t end = segment.address + segment.piece.bytes;
  std::uint64_t at = segment.address;
  Key("blocks");
  pickle_.BeginList();
  for (const SegmentBlock& there : segment.blocks) {
    const std::uint64_t begin = there.block.address;
    if (begin < at || begin >= end) continue;  // overlapping blocks of a damaged capture
    if (begin > at) AddBlock(at, begin - at, nullptr, state);
    const std::uint64_t bytes = std::min(there.block.bytes, end - begin);
    AddBlock(begin, bytes, &there, state);
    at = begin + bytes;
  }
  if (at < end) AddBlock(at, end - at, nullptr, state);
  pickle_.EndList();
}

void TorchSnapshotWriter::SeeSegments(std::uint32_t device, const SegmentMap& map, const ReplayState& state) {
  if (!std::exchange(in_segments_, true)) {
    pickle_.EndList();
    Key("segments");
    pickle_.BeginList();
  }
  for (const MappedSegment& segment : map.segments) {
    const SegmentSums sums = SumsOf(segment);
    pickle_.BeginDictionary();
    Integer("device", device);
    Integer("address", segment.address);
    Integer("total_size", segment.piece.bytes);
    Integer("allocated_size", sums.allocated);
    Integer("active_size", sums.active);
    Integer("requested_size", sums.requested);
    Integer("stream", segment.piece.stream);
    Key("segment_type");
    Key(segment.piece.small ? "small" : "large");
    Key("segment_pool_id");
    pickle_.Integer(segment.piece.pool_graph);
    pickle_.Integer(segment.piece.pool_user);
    pickle_.EndPair();
    Key("is_expandable");
    pickle_.Boolean(segment.piece.mapped);
    AddFrames(nullptr, state);
    AddBlocks(segment, state);
    pickle_.EndDictionary();
  }
}

void TorchSnapshotWriter::Finish() {
  pickle_.EndList();
  pickle_.EndDictionary();
  pickle_.End();
}

}  // namespace memoir
