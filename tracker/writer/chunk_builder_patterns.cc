// The part of ChunkBuilder that stores repeated steps as pattern rows.
#include <algorithm>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/event_kinds.h"

namespace memoir {

bool ChunkBuilder::PackInRow(ThreadState& thread, const EventGroup& group) {
  switch (group.kind) {
    case RecordKind::kHostReading:
    case RecordKind::kDeviceReading:
    case RecordKind::kKernelRun:
    case RecordKind::kMark:
      patterns_.EndRow();
      return false;
    case RecordKind::kStep:
    case RecordKind::kStack:
    case RecordKind::kAllocate:
    case RecordKind::kDeallocate:
    case RecordKind::kBlockAllocate:
    case RecordKind::kBlockFreeCompleted:
      break;
    default:
      patterns_.LeaveStep();
      return false;
  }
  // Events inside of ranges, and events after a loss, are added to runs.
  if (group.header->depth != 0 || thread.ranges.depth() != 0 || group.first_record > thread.next_record) {
    patterns_.LeaveStep();
    return false;
  }
  PatternEvent event;
  event.kind = EventKindOf(group.kind, group.header->flags);
  event.thread = thread.thread;
  switch (group.kind) {
    case RecordKind::kStep:
      patterns_.BeginStep(thread.thread);
      return AddToRow(thread, group, event, {.step_number = group.As<StepRecord>().step}, thread.stack);
    case RecordKind::kStack:
      return PackStackInRow(thread, group);
    case RecordKind::kAllocate: {
      const auto& record = group.As<AllocateRecord>();
      event.device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
      event.of_host = kOfHost;
      event.bytes = record.bytes;
      return AddToRow(thread, group, event, {.host_address = record.address, .serial = record.serial}, thread.stack);
    }
    case RecordKind::kBlockAllocate: {
      const auto& record = group.As<BlockRecord>();
      event.device = DeviceOf(record.place);
      event.address = record.address;
      event.bytes = record.bytes;
      event.requested = record.requested;
      event.stream = record.place.stream;
      event.pool_graph = record.place.pool_graph;
      event.pool_user = record.place.pool_user;
      return AddToRow(thread, group, event, {.serial = record.serial}, thread.stack);
    }
    default: {
      const auto& record = group.As<DeallocateRecord>();
      event.device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
      const bool cached = group.kind == RecordKind::kBlockFreeCompleted || memory_.HasSegments(event.device);
      event.of_host = cached ? kOfDevice : kOfHost;
      if (cached) event.address = record.address;
      const std::uint64_t host_address = cached ? 0 : record.address;
      return AddToRow(thread, group, event, {.host_address = host_address, .serial = record.serial}, thread.stack);
    }
  }
}

// Packs a stack record. Each ring extent begins with a stack record that repeats the thread's stack, which needs no
// event.
bool ChunkBuilder::PackStackInRow(ThreadState& thread, const EventGroup& group) {
  const std::uint32_t before = thread.stack;
  TakeStack(thread, group.As<StackRecord>());
  if (thread.stack != before) {
    PatternEvent event;
    event.kind = EventKind::kStack;
    event.thread = thread.thread;
    event.stack = thread.stack;
    stacks_.Define(thread.stack, part_, names_, &definitions_);
    if (AddToRow(thread, group, event, {}, before)) return true;
    thread.stack = before;  // if a new run begins with this record, its start stack is the previous stack
    return false;
  }
  const bool goes_on = thread.run != nullptr && thread.run->next_record() == group.first_record;
  if (goes_on) {
    thread.run->CountRecords(group.records);
  } else {
    NoteRepeated(thread, group, before);
  }
  thread.next_record = group.first_record + group.records;
  return true;
}

bool ChunkBuilder::AddToRow(ThreadState& thread, const EventGroup& group, const PatternEvent& event,
                            PatternMatcher::Facts facts, std::uint32_t stack_before) {
  // If a row and a run have the same tick, readers show the row first. So the event's tick is made larger than all
  // ticks in runs.
  facts.tick = std::max(group.tick, last_run_tick_ + 1);
  if (!patterns_.Add(event, facts)) return false;
  if (StepPattern* const pattern = patterns_.UndefinedPattern(part_); pattern != nullptr) DefinePattern(pattern);
  if (group.kind == RecordKind::kAllocate) Track(thread, group.As<AllocateRecord>(), event.device);
  if (group.kind == RecordKind::kBlockAllocate) Track(thread, group.As<BlockRecord>(), event.device);
  if (group.kind == RecordKind::kDeallocate) TrackFree(group.As<DeallocateRecord>(), event.device);
  if (group.kind == RecordKind::kBlockFreeCompleted)
    memory_.CompleteFree(event.device, event.address, group.As<DeallocateRecord>().serial);
  NoteRepeated(thread, group, stack_before);
  NoteEvent(thread, group);
  return true;
}

// Counts the records of an event that needs no run. For each thread with such records, the chunk contains the index
// after the thread's last record in the chunk, and the thread's stack before the records that need no run.
void ChunkBuilder::NoteRepeated(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before) {
  thread.repeated += group.records;
  if (!repeating_.try_emplace(thread.thread, stack_before).second) return;
  threads_.Refresh(thread.thread);
  threads_.Define(thread.thread, part_, &definitions_);
  if (!stacks_.Define(stack_before, part_, names_, &definitions_)) repeating_[thread.thread] = 0;
}

void ChunkBuilder::DefinePattern(StepPattern* pattern) {
  pattern->part = part_;
  std::uint32_t last = 0;
  for (const PatternEvent& event : pattern->events) {
    if (event.stack != 0) stacks_.Define(event.stack, part_, names_, &definitions_);
    devices_.Define(event.device, part_, &definitions_);
    if (std::exchange(last, event.thread) == event.thread) continue;
    threads_.Refresh(event.thread);
    threads_.Define(event.thread, part_, &definitions_);
  }
  AddStepPattern(*pattern, &definitions_);
}

void ChunkBuilder::AddRepeatedRecords(std::string* payload) const {
  for (const auto& [id, stack] : repeating_) {
    const auto thread = threads_.states().find(id);
    if (thread == threads_.states().end()) continue;
    protozero::pbf_writer message(*payload);
    protozero::pbf_writer records(message, field::payload::kRepeatedRecords);
    records.add_uint32(field::repeated_records::kThread, id);
    records.add_uint64(field::repeated_records::kEndRecord, thread->second.next_record);
    if (stack != 0) records.add_uint32(field::repeated_records::kStartStack, stack);
  }
}

}  // namespace memoir
