#include "tracker/writer/pack/row_packer.h"

#include <utility>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"
#include "tracker/writer/events/event_kinds.h"

namespace memoir {
namespace {

PatternEvent EventOf(const ThreadState& thread, const EventGroup& group) {
  PatternEvent event;
  event.kind = EventKindOf(group.kind, group.header->flags);
  event.thread = thread.thread;
  return event;
}

}  // namespace

RowResult RowPacker::LeaveStep(ThreadState& /*thread*/, const EventGroup& /*group*/) {
  patterns_.LeaveStep();
  return RowResult::kNotInRow;
}

RowResult RowPacker::EndRow(ThreadState& /*thread*/, const EventGroup& /*group*/) {
  patterns_.EndRow();
  return RowResult::kNotInRow;
}

bool RowPacker::CanBeInRow(const ThreadState& thread, const EventGroup& group) {
  if (group.header->depth == 0 && thread.ranges.depth() == 0 && group.first_record <= thread.next_record) return true;
  patterns_.LeaveStep();
  return false;
}

RowResult RowPacker::AddStep(ThreadState& thread, const EventGroup& group) {
  if (!CanBeInRow(thread, group)) return RowResult::kNotInRow;
  patterns_.BeginStep(thread.thread);
  const std::uint64_t step = group.As<StepRecord>().step;
  if (!PutInRow(group, EventOf(thread, group), {.step_number = step})) return RowResult::kNotInRow;
  return CountInRow(thread, group, thread.stack);
}

RowResult RowPacker::AddAllocate(ThreadState& thread, const EventGroup& group) {
  if (!CanBeInRow(thread, group)) return RowResult::kNotInRow;
  const auto& record = group.As<AllocateRecord>();
  PatternEvent event = EventOf(thread, group);
  event.device = shared_.DeviceOf(record);
  event.of_host = kOfHost;
  event.bytes = record.bytes;
  if (!PutInRow(group, event, {.host_address = record.address, .serial = record.serial})) return RowResult::kNotInRow;
  blocks_.Track(thread, record, event.device);
  return CountInRow(thread, group, thread.stack);
}

RowResult RowPacker::AddBlock(ThreadState& thread, const EventGroup& group) {
  if (!CanBeInRow(thread, group)) return RowResult::kNotInRow;
  const auto& record = group.As<BlockRecord>();
  PatternEvent event = EventOf(thread, group);
  event.device = shared_.DeviceOf(record.place);
  event.address = record.address;
  event.bytes = record.bytes;
  event.requested = record.requested;
  event.stream = record.place.stream;
  event.pool_graph = record.place.pool_graph;
  event.pool_user = record.place.pool_user;
  if (!PutInRow(group, event, {.serial = record.serial})) return RowResult::kNotInRow;
  blocks_.Track(thread, record, event.device);
  return CountInRow(thread, group, thread.stack);
}

RowResult RowPacker::AddDeallocate(ThreadState& thread, const EventGroup& group) {
  return AddFree(thread, group, false);
}

RowResult RowPacker::AddFreeCompleted(ThreadState& thread, const EventGroup& group) {
  return AddFree(thread, group, true);
}

RowResult RowPacker::AddFree(ThreadState& thread, const EventGroup& group, bool is_completed) {
  if (!CanBeInRow(thread, group)) return RowResult::kNotInRow;
  const auto& record = group.As<DeallocateRecord>();
  PatternEvent event = EventOf(thread, group);
  event.device = shared_.DeviceOf(record);
  const bool cached = is_completed || shared_.memory.HasSegments(event.device);
  event.of_host = cached ? kOfDevice : kOfHost;
  if (cached) event.address = record.address;
  const std::uint64_t host_address = cached ? 0 : record.address;
  if (!PutInRow(group, event, {.host_address = host_address, .serial = record.serial})) return RowResult::kNotInRow;
  if (is_completed) {
    blocks_.TrackFreeCompleted(record, event.device);
  } else {
    blocks_.TrackFree(record, event.device);
  }
  return CountInRow(thread, group, thread.stack);
}

RowResult RowPacker::AddStack(ThreadState& thread, const EventGroup& group) {
  if (!CanBeInRow(thread, group)) return RowResult::kNotInRow;
  const std::uint32_t before = thread.stack;
  python_.TakeStack(thread, group.As<StackRecord>());
  if (thread.stack == before) return SkipStack(thread, group);
  PatternEvent event = EventOf(thread, group);
  event.stack = thread.stack;
  shared_.DefineStack(thread.stack);
  if (PutInRow(group, event, {})) return CountInRow(thread, group, before);
  thread.stack = before;  // if a new run begins with this record, its start stack is the previous stack
  return RowResult::kNotInRow;
}

// Counts a stack record that repeats the thread's stack. The first stack record of each ring extent is complete, so it
// often repeats the stack.
RowResult RowPacker::SkipStack(ThreadState& thread, const EventGroup& group) {
  const bool goes_on = thread.run != nullptr && thread.run->next_record() == group.first_record;
  if (goes_on) {
    thread.run->CountRecords(group.records);
  } else {
    NoteRepeated(thread, group, thread.stack);
  }
  thread.next_record = group.first_record + group.records;
  return RowResult::kNeedsNoEvent;
}

bool RowPacker::PutInRow(const EventGroup& group, const PatternEvent& event, PatternMatcher::Facts facts) {
  // If an event in a row and an event in a run have the same tick, readers place the event in the row first. So the
  // event's tick is made larger than all ticks in runs.
  facts.tick = std::max(group.tick, last_run_tick_ + 1);
  if (!patterns_.Add(event, facts)) return false;
  if (StepPattern* const pattern = patterns_.UndefinedPattern(shared_.part); pattern != nullptr) DefinePattern(pattern);
  return true;
}

RowResult RowPacker::CountInRow(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before) {
  NoteRepeated(thread, group, stack_before);
  return RowResult::kInRow;
}

// Counts the records of an event that needs no run. For each thread with such records, the chunk contains the index
// after the thread's last record, and the thread's stack before the first of these records.
void RowPacker::NoteRepeated(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before) {
  thread.repeated += group.records;
  if (!repeating_.try_emplace(thread.thread, stack_before).second) return;
  shared_.DefineThread(thread.thread);
  if (!shared_.DefineStack(stack_before)) repeating_[thread.thread] = 0;
}

void RowPacker::DefinePattern(StepPattern* pattern) {
  pattern->part = shared_.part;
  std::uint32_t last = 0;
  for (const PatternEvent& event : pattern->events) {
    if (event.stack != 0) shared_.DefineStack(event.stack);
    shared_.devices.Define(event.device, shared_.part, &shared_.definitions);
    if (std::exchange(last, event.thread) != event.thread) shared_.DefineThread(event.thread);
  }
  AddStepPattern(*pattern, &shared_.definitions);
}

void RowPacker::BeginPart() {
  patterns_.ForgetPatternsWithout([this](std::uint32_t stack) { return shared_.stacks.Contains(stack); });
}

void RowPacker::AddTo(std::string* payload) const {
  patterns_.rows().AddTo(payload);
  AddRepeatedRecords(payload);
}

void RowPacker::AddRepeatedRecords(std::string* payload) const {
  const auto& threads = shared_.threads.states();
  for (const auto& [id, stack] : repeating_) {
    const auto thread = threads.find(id);
    if (thread == threads.end()) continue;
    protozero::pbf_writer message(*payload);
    protozero::pbf_writer records(message, field::payload::kRepeatedRecords);
    records.add_uint32(field::repeated_records::kThread, id);
    records.add_uint64(field::repeated_records::kEndRecord, thread->second.next_record);
    if (stack != 0) records.add_uint32(field::repeated_records::kStartStack, stack);
  }
}

void RowPacker::Clear() {
  patterns_.Clear();
  repeating_.clear();
}

}  // namespace memoir
