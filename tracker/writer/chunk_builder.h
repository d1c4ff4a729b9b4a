// Packs events into the payload of one chunk, and keeps the state that keyframes need.
//
//     EventGroup ──► run columns of its thread
//                ──► names, layouts, signatures, threads, devices, stacks this part has not defined
//                ──► tensor table of this chunk
//                ──► open ranges, live blocks, totals
//
// Knows no file. One thread.
#ifndef TRACKER_WRITER_CHUNK_BUILDER_H_
#define TRACKER_WRITER_CHUNK_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "interpose/ring_reader.h"
#include "tracker/writer/content_ids.h"
#include "tracker/writer/driver_state.h"
#include "tracker/writer/event_group.h"
#include "tracker/writer/held_now.h"
#include "tracker/writer/host_state.h"
#include "tracker/writer/memory_state.h"
#include "tracker/writer/names.h"
#include "tracker/writer/run_columns.h"
#include "tracker/writer/seen_signatures.h"
#include "tracker/writer/stack_table.h"
#include "tracker/writer/step_repeats.h"
#include "tracker/writer/tensor_table.h"
#include "tracker/writer/threads.h"

namespace memoir {

class ChunkBuilder {
 public:
  explicit ChunkBuilder(const RingReader& ring, std::size_t max_live_blocks = kMaxLiveBlocks);

  // Steps whose memory events come again are not packed again (step_repeats.h). Before the first event.
  void FollowSteps() { follows_steps_ = true; }
  // Dictionaries are defined anew in another part. Only while the chunk is empty.
  void SetPart(std::uint32_t part) {
    part_ = part;
    repeats_.ForgetWithout([this](std::uint32_t stack) { return stacks_.Knows(stack); });
  }
  void Add(ThreadState& thread, const EventGroup& group);
  // Says the thread's Python stack where that was recorded before the first event that is added.
  void TakeStack(ThreadState& thread, const StackRecord& record);

  bool empty() const { return runs_.empty() && repeating_.empty(); }
  std::size_t bytes() const { return definitions_.size() + run_bytes_ + tensors_.bytes() + repeats_.rows().bytes(); }
  std::uint64_t events() const { return events_; }
  std::uint64_t first_tick() const { return first_tick_; }
  std::uint64_t last_tick() const { return last_tick_; }

  // Appends dictionaries, tensor table, runs and rows to a Payload. No event may be added before Clear.
  void AddTo(std::string* payload);
  void Clear();

  // Appends the dictionaries that a keyframe needs and the keyframe: the state after all events added so far.
  void AddKeyframe(std::uint64_t tick, std::string* payload);

  // For a snapshot, while the chunk is empty: adds what modules and optimizers hold as events at `tick`. Clear it
  // afterwards.
  void AddHeldNow(std::uint64_t tick);

  Threads& threads() { return threads_; }
  const MemoryState& memory() const { return memory_; }
  const DriverState& driver() const { return driver_; }
  const HostState& host() const { return host_; }

 private:
  void Pack(ThreadState& thread, const EventGroup& group);
  void NoteEvent(ThreadState& thread, const EventGroup& group);
  // chunk_builder_repeats.cc. True: the event needs no run.
  bool PackInRow(ThreadState& thread, const EventGroup& group);
  bool PackStackInRow(ThreadState& thread, const EventGroup& group);
  bool AddToRow(ThreadState& thread, const EventGroup& group, const RepeatableEvent& event, StepRepeats::Facts facts,
                std::uint32_t stack_before);
  void NoteRepeated(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before);
  void DefineStretch(KnownStretch* stretch);
  void AddRepeatedRecords(std::string* payload) const;
  RunColumns& RunFor(ThreadState& thread, const EventGroup& group);
  RunColumns& StartRun(ThreadState& thread, const EventGroup& group);
  void AddBegin(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddEnd(ThreadState& thread, const EventGroup& group, RunColumns& run);
  // A block that the thread allocates where it is now.
  LiveBlock BlockHere(const ThreadState& thread, std::uint32_t device) const;
  // chunk_builder_holds.cc.
  void AddHolds(const EventGroup& group, RunColumns& run);
  void AddHoldsNames(const EventGroup& group, RunColumns& run);
  bool IsHeldStill(const HeldNow::Copy& held, std::size_t tensor);
  void AddAllocate(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddDeallocate(const EventGroup& group, RunColumns& run);
  // What each event changes, wherever it is packed.
  void Track(const ThreadState& thread, const AllocateRecord& record, std::uint32_t device);
  void Track(const ThreadState& thread, const BlockRecord& record, std::uint32_t device);
  void TrackFree(const DeallocateRecord& record, std::uint32_t device);
  bool AddArguments(const EventGroup& group, RunColumns& run);  // false: they are damaged, and none are in the capture
  void AddSwitch(const EventGroup& group, RunColumns& run);
  // chunk_builder_stacks.cc. Of a thread without Python frames that of the thread it works for.
  std::uint32_t OwnStack(const ThreadState& thread) const;
  void AddStack(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddCall(const EventGroup& group, RunColumns& run);
  // Of devices with a caching allocator: chunk_builder_devices.cc.
  void AddDeviceEvent(ThreadState& thread, const EventGroup& group, RunColumns& run);
  std::uint32_t DeviceOf(const DevicePlace& place);
  void AddBlock(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddFreeCompleted(const EventGroup& group, RunColumns& run);
  void AddSegment(const EventGroup& group, RunColumns& run);
  void AddOutOfMemory(const EventGroup& group, RunColumns& run);
  void AddStatistics(const EventGroup& group, RunColumns& run);
  // What the driver gives: chunk_builder_driver.cc.
  void AddDriverEvent(const EventGroup& group, RunColumns& run);
  std::uint32_t Library(const char* name);
  void AddDriverAllocate(const EventGroup& group, RunColumns& run);
  void AddDriverFree(const EventGroup& group, RunColumns& run);
  void AddDriverRefused(const EventGroup& group, RunColumns& run);
  void AddHostReading(const EventGroup& group, RunColumns& run);
  void AddReading(const EventGroup& group, RunColumns& run);
  // Calls of CUDA: chunk_builder_calls.cc.
  void AddKernelLaunch(const EventGroup& group, RunColumns& run);
  void AddDeviceCall(const EventGroup& group, RunColumns& run);
  void AddKernelRun(const EventGroup& group, RunColumns& run);
  std::uint32_t Signature(const EventGroup& group);
  void MarkUsedNames(std::unordered_set<std::uint32_t>* used) const;
  void MarkUsedStacks(StackTable::Users users, const std::function<void(std::uint32_t)>& use) const;

  Threads threads_;
  Names names_;
  Devices devices_;
  ContentIds signatures_;
  SeenSignatures seen_signatures_;
  StackTable stacks_;
  TensorTable tensors_;
  HeldNow held_;
  MemoryState memory_;
  DriverState driver_;
  HostState host_;
  StepRepeats repeats_;
  bool follows_steps_ = false;
  std::map<std::uint32_t, std::uint32_t>
      repeating_;                    // threads with records in this chunk that need no run: stacks before
  std::uint64_t last_run_tick_ = 0;  // of what was packed in a run last
  RecordingLevel level_ = RecordingLevel::kAll;
  bool modules_are_followed_ = false;  // since the first call of one; else keyframes know no places

  std::uint32_t part_ = 1;
  std::string definitions_;
  std::vector<std::unique_ptr<RunColumns>> runs_;
  std::vector<ThreadState*> running_;  // whose `run` is set
  std::vector<std::unique_ptr<RunColumns>> spare_runs_;
  std::size_t run_bytes_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t all_events_ = 0;  // of all chunks
  std::uint64_t first_tick_ = 0;
  std::uint64_t last_tick_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CHUNK_BUILDER_H_
