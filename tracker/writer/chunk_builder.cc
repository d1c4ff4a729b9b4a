#include "tracker/writer/chunk_builder.h"

#include <algorithm>
#include <utility>

#include "tracker/writer/event_kinds.h"
#include "tracker/writer/keyframe_encoder.h"

namespace memoir {
namespace {

// Approximate bytes of the fields of a run that are not columns.
constexpr std::size_t kRunOverhead = 48;
// Bounds of the column memory that is kept for the next chunk: enough for a few busy threads.
constexpr std::size_t kSpareRuns = 16;
constexpr std::size_t kSpareBytes = 256 * 1024;

// Returns the number of ranges that were open before the event, modulo 2^16, as the ring counts them.
std::uint16_t DepthBefore(const EventGroup& group) {
  return static_cast<std::uint16_t>(group.header->depth + (group.kind == RecordKind::kRangeEnd ? 1 : 0));
}

}  // namespace

ChunkBuilder::ChunkBuilder(const RingReader& ring, std::size_t max_live_blocks)
    : threads_(ring),
      names_(ring, [this](std::unordered_set<std::uint32_t>* used) { MarkUsedNames(used); }),
      stacks_([this](auto users, const auto& use) { MarkUsedStacks(users, use); }),
      tensors_(&devices_),
      memory_(max_live_blocks) {}

void ChunkBuilder::MarkUsedNames(std::unordered_set<std::uint32_t>* used) const {
  for (const auto& [thread, state] : threads_.states()) {
    for (const OpenRange& range : state.ranges.kept()) used->insert(range.name);
  }
  const auto use = [used](const LiveBlock& block) { used->insert(block.leaf_name); };
  memory_.live().ForEach(use);
  memory_.freeing().ForEach(use);
  driver_.blocks().ForEach(use);
}

void ChunkBuilder::Add(ThreadState& thread, const EventGroup& group) {
  if (group.kind == RecordKind::kHolds) held_.Note(thread.thread, group);
  if (follows_steps_ && level_ == RecordingLevel::kMemory && PackInRow(thread, group)) return;
  Pack(thread, group);
  last_run_tick_ = std::max(last_run_tick_, group.tick);
}

void ChunkBuilder::Pack(ThreadState& thread, const EventGroup& group) {
  RunColumns& run = RunFor(thread, group);
  const std::size_t bytes_before = run.bytes();
  run.PutEvent(EventKindOf(group.kind, group.header->flags), group.tick);
  run.CountRecords(group.records);
  switch (group.kind) {
    case RecordKind::kRangeBegin:
      AddBegin(thread, group, run);
      break;
    case RecordKind::kRangeEnd:
      AddEnd(thread, group, run);
      break;
    case RecordKind::kAllocate:
      AddAllocate(thread, group, run);
      break;
    case RecordKind::kDeallocate:
      AddDeallocate(group, run);
      break;
    case RecordKind::kStep:
      run.Put(RunColumn::kStep, group.As<StepRecord>().step);
      break;
    case RecordKind::kPause:
    case RecordKind::kResume:
      AddSwitch(group, run);
      break;
    case RecordKind::kMark: {
      Names::Name* name = names_.FindText(group.text);
      names_.Define(name, part_, &definitions_);
      run.Put(RunColumn::kMarkName, name->id);
      break;
    }
    case RecordKind::kStack:
      AddStack(thread, group, run);
      break;
    case RecordKind::kCallBegin:
    case RecordKind::kCallEnd:
      AddCall(group, run);
      break;
    case RecordKind::kHolds:
      AddHolds(group, run);
      break;
    case RecordKind::kModuleEnter:
    case RecordKind::kModuleExit: {
      Names::Name* def = names_.FindOperator(group.As<ModuleRecord>().module);
      if (def != nullptr) names_.Define(def, part_, &definitions_);
      run.Put(RunColumn::kModule, def == nullptr ? 0 : def->id);
      thread.modules.AddCall(thread.ranges, def == nullptr ? 0 : def->ring_id, group.kind == RecordKind::kModuleEnter);
      modules_are_followed_ = true;
      break;
    }
    default:
      AddDeviceEvent(thread, group, run);
      break;
  }
  run_bytes_ += run.bytes() - bytes_before;
  NoteEvent(thread, group);
}

void ChunkBuilder::NoteEvent(ThreadState& thread, const EventGroup& group) {
  thread.next_record = group.first_record + group.records;
  first_tick_ = events_ == 0 ? group.tick : std::min(first_tick_, group.tick);
  last_tick_ = std::max(last_tick_, group.tick);
  ++events_;
  ++all_events_;
}

// tools/model changes its state in the same way, because its state must agree with keyframes.
void ChunkBuilder::AddSwitch(const EventGroup& group, RunColumns& run) {
  const std::uint8_t levels = group.header->flags;
  run.Put(RunColumn::kLevel, levels);
  level_ = LevelAfter(levels);
  threads_.CloseRanges();
  if (LevelBefore(levels) != RecordingLevel::kOff) return;
  memory_.ForgetBefore(group.tick);
  driver_.ForgetBefore(group.tick);
}

// Returns the event's run. A new run begins if a record was lost, or if the begin or the end of a range was not seen.
RunColumns& ChunkBuilder::RunFor(ThreadState& thread, const EventGroup& group) {
  const bool same_depth = DepthBefore(group) == static_cast<std::uint16_t>(thread.ranges.depth());
  if (thread.run != nullptr && same_depth && thread.run->next_record() == group.first_record) [[likely]]
    return *thread.run;
  if (!same_depth) thread.ranges.SetDepth(DepthBefore(group));
  thread.modules.EndRanges(thread.ranges);
  if (group.first_record > thread.next_record) {
    thread.modules.Clear();  // after a loss, the open module calls are unknown
    thread.stack = 0;
  }
  return StartRun(thread, group);
}

RunColumns& ChunkBuilder::StartRun(ThreadState& thread, const EventGroup& group) {
  if (thread.run == nullptr) {
    running_.push_back(&thread);
    threads_.Refresh(thread.thread);
    threads_.Define(thread.thread, part_, &definitions_);
  }
  if (spare_runs_.empty()) {
    runs_.push_back(std::make_unique<RunColumns>());
  } else {
    runs_.push_back(std::move(spare_runs_.back()));
    spare_runs_.pop_back();
  }
  thread.run = runs_.back().get();
  if (!stacks_.Define(thread.stack, part_, names_, &definitions_)) thread.stack = 0;
  thread.run->Start(thread.thread, group.first_record, thread.ranges.depth(), thread.stack,
                    std::exchange(thread.repeated, 0));
  run_bytes_ += kRunOverhead;
  return *thread.run;
}

void ChunkBuilder::AddBegin(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<RangeBeginRecord>();
  const bool is_inline = (record.header.flags & kInlineName) != 0;
  Names::Name* name = is_inline ? names_.FindText(group.text) : names_.FindOperator(record.name);
  OpenRange range;
  range.kind = EventKindOf(RecordKind::kRangeBegin, record.header.flags);
  range.begin_tick = record.tick;
  if (name != nullptr) {
    names_.Define(name, part_, &definitions_);
    range.name = name->id;
    range.operator_id = name->is_operator ? name->ring_id : 0;
  }
  range.role = RoleOf(range.kind, name == nullptr ? std::string_view() : std::string_view(name->text));
  if (range.operator_id != 0) memory_.CountCall(range.operator_id, thread.ranges.outermost_operator() == 0);
  thread.ranges.Push(range);
  const bool backward = range.kind == EventKind::kRangeBeginBackward;
  const ThreadState* forward = backward ? threads_.FindByTorchId(record.forward_thread) : nullptr;
  thread.modules.BeginRange(thread.ranges, OwnStack(thread), record.sequence,
                            forward == nullptr ? nullptr : &forward->modules);
  run.PutBegin(range.name, record.sequence);
  if (backward) run.Put(RunColumn::kForwardThread, record.forward_thread);
  AddArguments(group, run);
}

void ChunkBuilder::AddEnd(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  thread.ranges.Pop();
  thread.modules.EndRanges(thread.ranges);
  AddArguments(group, run);
}

void ChunkBuilder::AddAllocate(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<AllocateRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(record.address, record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  Track(thread, record, device);
}

void ChunkBuilder::AddDeallocate(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeallocateRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(record.address, record.serial, device);
  TrackFree(record, device);
}

void ChunkBuilder::AddTo(std::string* payload) {
  patterns_.AddAddressRow();
  payload->append(definitions_);
  tensors_.AddTo(payload);
  for (const auto& run : runs_) run->AddTo(payload);
  patterns_.rows().AddTo(payload);
  AddRepeatedRecords(payload);
}

void ChunkBuilder::Clear() {
  definitions_.clear();
  tensors_.Clear();
  patterns_.Clear();
  repeating_.clear();
  for (ThreadState* thread : running_) thread->run = nullptr;
  running_.clear();
  for (auto& run : runs_) {
    if (spare_runs_.size() < kSpareRuns && run->capacity() <= kSpareBytes * 4 / (spare_runs_.size() + 1)) {
      spare_runs_.push_back(std::move(run));
    }
  }
  runs_.clear();
  run_bytes_ = 0;
  events_ = first_tick_ = last_tick_ = 0;
}

void ChunkBuilder::AddKeyframe(std::uint64_t tick, std::string* payload) {
  KeyframeSources sources{memory_, driver_, host_, names_, devices_, threads_, stacks_, level_};
  EncodeKeyframe(sources, part_, tick, all_events_, payload);
}

}  // namespace memoir
