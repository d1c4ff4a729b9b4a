#include "tracker/writer/chunk_builder.h"

#include <algorithm>

#include "tracker/writer/events/event_kinds.h"
#include "tracker/writer/pack/packed_record.h"
#include "tracker/writer/state/keyframe_encoder.h"

namespace memoir {
namespace {

// Restores a number at the end of the scope, even if memory runs out.
class RestoredNumber {
 public:
  explicit RestoredNumber(std::uint64_t* number) : number_(*number), value_(*number) {}
  ~RestoredNumber() { number_ = value_; }
  RestoredNumber(const RestoredNumber&) = delete;
  RestoredNumber& operator=(const RestoredNumber&) = delete;

 private:
  std::uint64_t& number_;
  const std::uint64_t value_;
};

}  // namespace

ChunkBuilder::ChunkBuilder(const RingReader& ring, std::size_t max_live_blocks)
    : packers_(
          ring, max_live_blocks, [this](std::unordered_set<std::uint32_t>* used) { MarkUsedNames(used); },
          [this](auto users, const auto& use) { MarkUsedStacks(users, use); }) {}

void ChunkBuilder::MarkUsedNames(std::unordered_set<std::uint32_t>* used) const {
  for (const auto& [thread, state] : packers_.shared.threads.states()) {
    for (const OpenRange& range : state.ranges.kept()) used->insert(range.name);
  }
  const auto use = [used](const LiveBlock& block) { used->insert(block.leaf_name); };
  memory().live().ForEach(use);
  memory().freeing().ForEach(use);
  driver().blocks().ForEach(use);
}

void ChunkBuilder::MarkUsedStacks(StackTable::Users users, const std::function<void(std::uint32_t)>& use) const {
  const auto use_both = [&use](const auto& of) {
    use(of.stack);
    use(of.forward_stack);
  };
  for (const auto& [thread, state] : packers_.shared.threads.states()) {
    use(state.stack);
    for (const OpenRange& range : state.ranges.kept()) use_both(range);
  }
  if (users == StackTable::Users::kThreads) return;
  for (const StepPattern& pattern : packers_.rows.patterns()) {
    for (const PatternEvent& event : pattern.events) use(event.stack);
  }
  memory().live().ForEach(use_both);
  memory().freeing().ForEach(use_both);
}

void ChunkBuilder::Add(ThreadState& thread, const EventGroup& group) {
  if (group.kind == RecordKind::kHolds) packers_.holders.Note(thread.thread, group);
  if (follows_steps_ && packers_.steps.level() == RecordingLevel::kMemory) {
    const RowResult result = PackInRow(thread, group);
    if (result == RowResult::kInRow) NoteEvent(thread, group);
    if (result != RowResult::kNotInRow) return;
  }
  Pack(thread, group);
  packers_.rows.NoteInRun(group.tick);
}

// ThreadRecords::Peek returns only records of events, so each has a row in packers.def.
void ChunkBuilder::Pack(ThreadState& thread, const EventGroup& group) {
  RunColumns& run = runs_.RunFor(thread, group);
  const std::size_t bytes_before = run.bytes();
  run.PutEvent(EventKindOf(group.kind, group.header->flags), group.tick);
  run.CountRecords(group.records);
  switch (static_cast<PackedRecord>(group.kind)) {
#define MEMOIR_PACKER(Name, packer, Function, InRow) \
  case PackedRecord::k##Name:                        \
    packers_.packer.Function(thread, group, run);    \
    break;
#include "tracker/writer/pack/packers.def"
  }
  runs_.CountBytes(run.bytes() - bytes_before);
  NoteEvent(thread, group);
}

RowResult ChunkBuilder::PackInRow(ThreadState& thread, const EventGroup& group) {
  switch (static_cast<PackedRecord>(group.kind)) {
#define MEMOIR_PACKER(Name, packer, Function, InRow) \
  case PackedRecord::k##Name:                        \
    return packers_.rows.InRow(thread, group);
#include "tracker/writer/pack/packers.def"
  }
  return packers_.rows.LeaveStep(thread, group);
}

void ChunkBuilder::NoteEvent(ThreadState& thread, const EventGroup& group) {
  thread.next_record = group.first_record + group.records;
  first_tick_ = events_ == 0 ? group.tick : std::min(first_tick_, group.tick);
  last_tick_ = std::max(last_tick_, group.tick);
  ++events_;
  ++all_events_;
}

void ChunkBuilder::AddTo(std::string* payload) {
  packers_.rows.AddAddressRow();
  payload->append(packers_.shared.definitions);
  packers_.arguments.AddTo(payload);
  runs_.AddTo(payload);
  packers_.rows.AddTo(payload);
}

void ChunkBuilder::Clear() {
  packers_.shared.definitions.clear();
  packers_.arguments.Clear();
  packers_.rows.Clear();
  runs_.Clear();
  events_ = first_tick_ = last_tick_ = 0;
}

void ChunkBuilder::AddKeyframe(std::uint64_t tick, std::string* payload) {
  SharedPackState& shared = packers_.shared;
  KeyframeSources sources{memory(),       driver(),       host(),        shared.names,
                          shared.devices, shared.threads, shared.stacks, packers_.steps.level()};
  EncodeKeyframe(sources, shared.part, tick, all_events_, payload);
}

void ChunkBuilder::AddCurrentHoldings(std::uint64_t tick) {
  if (threads().states().empty()) return;
  ThreadState& thread = threads().State(threads().states().begin()->first);
  const RestoredNumber next_record(&thread.next_record), repeated(&thread.repeated), all_events(&all_events_);
  packers_.holders.held().ForEach([&](CurrentHoldings::Copy& held) {
    packers_.holders.LeaveOutFreed(held);
    held.header->depth = static_cast<std::uint16_t>(thread.ranges.depth());
    held.group.tick = tick;
    held.group.first_record = thread.next_record;
    Pack(thread, held.group);
  });
}

}  // namespace memoir
