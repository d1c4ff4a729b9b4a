// Packs events into the payload of one chunk, and keeps the state that keyframes need.
//
//     EventGroup ──► columns of its thread's run
//                ──► names, layouts, signatures, threads, devices and stacks that this part has not defined yet
//                ──► tensor table of this chunk
//                ──► state: open ranges, live blocks, totals
//
// Opens no file. One thread.
#ifndef TRACKER_WRITER_CHUNK_BUILDER_H_
#define TRACKER_WRITER_CHUNK_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/content_ids.h"
#include "tracker/writer/current_holdings.h"
#include "tracker/writer/driver_state.h"
#include "tracker/writer/event_group.h"
#include "tracker/writer/host_state.h"
#include "tracker/writer/memory_state.h"
#include "tracker/writer/names.h"
#include "tracker/writer/pattern_matcher.h"
#include "tracker/writer/recent_signatures.h"
#include "tracker/writer/run_columns.h"
#include "tracker/writer/stack_table.h"
#include "tracker/writer/tensor_table.h"
#include "tracker/writer/threads.h"

namespace memoir {

class ChunkBuilder {
 public:
  explicit ChunkBuilder(const RingReader& ring, std::size_t max_live_blocks = kMaxLiveBlocks);

  // Stores repeated steps as pattern rows (pattern_matcher.h). Call before the first event.
  void FollowSteps() { follows_steps_ = true; }
  // Begins another part, in which the dictionaries are defined again. Call it only while the chunk is empty.
  void SetPart(std::uint32_t part) {
    part_ = part;
    patterns_.ForgetPatternsWithout([this](std::uint32_t stack) { return stacks_.Contains(stack); });
  }
  void Add(ThreadState& thread, const EventGroup& group);
  // Sets the thread's Python stack from `record`. RingPump calls it for the records in ThreadRecords::skipped_stacks.
  void TakeStack(ThreadState& thread, const StackRecord& record);

  bool empty() const { return runs_.empty() && repeating_.empty(); }
  std::size_t bytes() const { return definitions_.size() + run_bytes_ + tensors_.bytes() + patterns_.rows().bytes(); }
  std::uint64_t events() const { return events_; }
  std::uint64_t first_tick() const { return first_tick_; }
  std::uint64_t last_tick() const { return last_tick_; }

  // Appends dictionaries, tensors, runs and pattern rows to a Payload. Then no event may be added until Clear.
  void AddTo(std::string* payload);
  void Clear();

  // Appends a keyframe, after the dictionaries that it needs: the state after all events added so far.
  void AddKeyframe(std::uint64_t tick, std::string* payload);

  // For a snapshot. Adds the tensors of modules and optimizers as events at `tick`. Call it while the chunk is empty,
  // and call Clear when the snapshot is written.
  void AddCurrentHoldings(std::uint64_t tick);

  Threads& threads() { return threads_; }
  const MemoryState& memory() const { return memory_; }
  const DriverState& driver() const { return driver_; }
  const HostState& host() const { return host_; }

 private:
  void Pack(ThreadState& thread, const EventGroup& group);
  void NoteEvent(ThreadState& thread, const EventGroup& group);
  // Repeated steps: chunk_builder_patterns.cc. PackInRow returns true if the event is in a row and needs no run.
  bool PackInRow(ThreadState& thread, const EventGroup& group);
  bool PackStackInRow(ThreadState& thread, const EventGroup& group);
  bool AddToRow(ThreadState& thread, const EventGroup& group, const PatternEvent& event, PatternMatcher::Facts facts,
                std::uint32_t stack_before);
  void NoteRepeated(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before);
  void DefinePattern(StepPattern* pattern);
  void AddRepeatedRecords(std::string* payload) const;
  RunColumns& RunFor(ThreadState& thread, const EventGroup& group);
  RunColumns& StartRun(ThreadState& thread, const EventGroup& group);
  void AddBegin(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddEnd(ThreadState& thread, const EventGroup& group, RunColumns& run);
  // Returns a block with the current operator, module and stacks of the thread.
  LiveBlock MakeBlock(const ThreadState& thread, std::uint32_t device) const;
  // Tensors of modules and optimizers: chunk_builder_holds.cc.
  void AddHolds(const EventGroup& group, RunColumns& run);
  void AddHoldsNames(const EventGroup& group, RunColumns& run);
  bool IsHeldStill(const CurrentHoldings::Copy& held, std::size_t tensor);
  void AddAllocate(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddDeallocate(const EventGroup& group, RunColumns& run);
  // Update the state for an event, whether it is in a run or in a pattern row.
  void Track(const ThreadState& thread, const AllocateRecord& record, std::uint32_t device);
  void Track(const ThreadState& thread, const BlockRecord& record, std::uint32_t device);
  void TrackFree(const DeallocateRecord& record, std::uint32_t device);
  bool AddArguments(const EventGroup& group, RunColumns& run);  // false: they are damaged, and are left out
  void AddSwitch(const EventGroup& group, RunColumns& run);
  // Python stacks: chunk_builder_stacks.cc. A thread without frames has the stack of the thread for which it works.
  std::uint32_t OwnStack(const ThreadState& thread) const;
  void AddStack(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddCall(const EventGroup& group, RunColumns& run);
  // Devices with a caching allocator: chunk_builder_devices.cc.
  void AddDeviceEvent(ThreadState& thread, const EventGroup& group, RunColumns& run);
  std::uint32_t DeviceOf(const DevicePlace& place);
  void AddBlock(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddFreeCompleted(const EventGroup& group, RunColumns& run);
  void AddSegment(const EventGroup& group, RunColumns& run);
  void AddOutOfMemory(const EventGroup& group, RunColumns& run);
  void AddStatistics(const EventGroup& group, RunColumns& run);
  // Driver allocations: chunk_builder_driver.cc.
  void AddDriverEvent(const EventGroup& group, RunColumns& run);
  std::uint32_t FindLibrary(const char* name);
  void AddDriverAllocate(const EventGroup& group, RunColumns& run);
  void AddDriverFree(const EventGroup& group, RunColumns& run);
  void AddDriverRefused(const EventGroup& group, RunColumns& run);
  void AddHostReading(const EventGroup& group, RunColumns& run);
  void AddReading(const EventGroup& group, RunColumns& run);
  // Calls of CUDA: chunk_builder_calls.cc.
  void AddKernelLaunch(const EventGroup& group, RunColumns& run);
  void AddDeviceCall(const EventGroup& group, RunColumns& run);
  void AddKernelRun(const EventGroup& group, RunColumns& run);
  std::uint32_t FindSignature(const EventGroup& group);
  void MarkUsedNames(std::unordered_set<std::uint32_t>* used) const;
  void MarkUsedStacks(StackTable::Users users, const std::function<void(std::uint32_t)>& use) const;

  Threads threads_;
  Names names_;
  Devices devices_;
  ContentIds signatures_;
  RecentSignatures recent_signatures_;
  StackTable stacks_;
  TensorTable tensors_;
  CurrentHoldings held_;
  MemoryState memory_;
  DriverState driver_;
  HostState host_;
  PatternMatcher patterns_;
  bool follows_steps_ = false;
  std::map<std::uint32_t, std::uint32_t>
      repeating_;  // key: a thread with records in pattern rows of this chunk; value: its stack before them
  std::uint64_t last_run_tick_ = 0;  // newest tick in a run
  RecordingLevel level_ = RecordingLevel::kAll;
  bool modules_are_followed_ = false;  // set at the first module call; until then blocks have no ModulePlace

  std::uint32_t part_ = 1;
  std::string definitions_;
  std::vector<std::unique_ptr<RunColumns>> runs_;
  std::vector<ThreadState*> running_;  // threads that have a run in this chunk
  std::vector<std::unique_ptr<RunColumns>> spare_runs_;
  std::size_t run_bytes_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t all_events_ = 0;  // number of events in all chunks
  std::uint64_t first_tick_ = 0;
  std::uint64_t last_tick_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CHUNK_BUILDER_H_
