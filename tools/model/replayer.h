// One replay: takes decoded chunks, merges the threads of each process by tick, keeps range stacks and live blocks, and
// calls the visitor. Capture::Replay drives it; nothing else needs it.
//
// In twelve sources: replayer.cc merges; of the others each has its part in its name (replayer_calls.cc: calls of CUDA;
// replayer_switches.cc: how much is recorded; replayer_bases.cc: which threads work for others; replayer_repeats.cc:
// steps that chunks name; replayer_runs.cc: what a chunk defines, runs and their records; replayer_skim.cc: chunks of
// which memory alone is wanted).
#ifndef TOOLS_MODEL_REPLAYER_H_
#define TOOLS_MODEL_REPLAYER_H_

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "tools/model/block_tracker.h"
#include "tools/model/capture.h"
#include "tools/model/chunk_source.h"
#include "tools/model/clock.h"
#include "tools/model/known_blocks.h"
#include "tools/model/operator_sight.h"
#include "tools/model/process_ids.h"
#include "tools/model/repeat_cursor.h"
#include "tools/model/repeat_cycle.h"
#include "tools/model/thread_replay.h"

namespace memoir {

inline constexpr Tick kForever = std::numeric_limits<Tick>::max();

template <class EventType>
EventType MakeEvent(ProcessId process, ThreadId thread, Tick tick) {
  EventType event;
  event.process = process;
  event.thread = thread;
  event.tick = tick;
  return event;
}

class Replayer : public ReplayState {
 public:
  Replayer(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
           const ReplayOptions& options, ReplayReport* report);

  void Take(const SourceItem& item);
  // That follow one another, in one part, with keyframes in the first one alone.
  void TakeChunks(absl::Span<const std::shared_ptr<Chunk>> chunks);

  const Dictionary& dictionary() const override { return dictionary_; }
  std::uint64_t Nanoseconds(ProcessId process, Tick tick) const override {
    return clocks_[process.value].Nanoseconds(tick);
  }
  void ForEachLiveBlock(const std::function<void(const Block&)>& function) const override {
    blocks_.live().ForEach(function);
  }
  std::uint64_t live_bytes(DeviceId device) const override { return blocks_.live().bytes(device); }
  const Block* LiveBlockAt(DeviceId device, std::uint64_t address) const override {
    return blocks_.live().Find(device, address);
  }
  ThreadId working_thread(ThreadId thread) const override;
  const RangeStack& stack(ThreadId thread) const override;
  const DeviceMemory& memory(DeviceId device) const override;
  const DriverMemory& driver() const override { return driver_; }

 private:
  void BeginProcess(std::size_t process);
  void EndProcess();
  void PassEvicted();
  void NoteEvicted(const v1::Keyframe& keyframe);
  void Cut() { visitor_.OnCut(MakeEvent<CutEvent>(process_, ThreadId(), now_)); }
  void Define(const Chunk& chunk);
  void TakeKeyframe(const Chunk& chunk);
  void ApplyKeyframe(const v1::Keyframe& keyframe);
  void NoteFoldedPeaks(const v1::Keyframe& keyframe);
  void ApplyLiveBlocks(const v1::Keyframe& keyframe);
  void ApplyOpenRanges(const v1::Keyframe& keyframe);
  void ApplyOpenModules(const v1::Keyframe& keyframe);
  void CompareKeyframe(const v1::Keyframe& keyframe);
  void AddRuns(const std::shared_ptr<Chunk>& chunk);
  void CountRecords(ThreadReplay& thread, RunCursor& cursor);
  void CountRepeatedRecords(const Payload& payload);
  // Of steps that a chunk names: replayer_repeats.cc.
  void AddRepeats(absl::Span<const std::shared_ptr<Chunk>> chunks);
  void AddJoined(JoinedRows joined);
  void SayRepeatsDamage(const RepeatCursor& cursor);
  void ShowRepeats(Tick until);
  void ShowRepeated(RepeatCursor& cursor);
  void ShowRepeatedBlock(ThreadReplay& thread, const RepeatCursor& cursor);
  void ShowRepeatedFree(ThreadReplay& thread, const RepeatCursor& cursor);
  void PassOrOpen(RepeatCursor& cursor, Tick until);
  void PassOver(RepeatCursor& cursor, RepeatedEvent& event);
  std::vector<const Block*> MoveBlocks(const RepeatCursor& cursor, Tick ticks);
  RepeatCounts CountsNow() const;
  Tick NextRepeat() const { return repeats_.empty() ? kForever : repeats_.front().tick(); }

  void Enqueue(ThreadReplay& thread);  // it has runs
  // Shows what is read up to a tick, all threads merged; less where it `may_wait` for what the next chunk says.
  void Drain(Tick until, bool may_wait = false);
  void RunThread(ThreadReplay& thread, Tick until);
  bool StartRun(ThreadReplay& thread, RunCursor& cursor);                // false: all of it was shown before
  bool ShowEvents(ThreadReplay& thread, RunCursor& cursor, Tick until);  // true: the run is done
  void ShowRangeBegin(ThreadReplay& thread, RunCursor& cursor, RangeSource source);
  void ShowRangeEnd(ThreadReplay& thread, RunCursor& cursor);
  void ShowAllocate(ThreadReplay& thread, RunCursor& cursor);
  void FollowKnown(const ThreadReplay& thread, bool caching, Block& block);
  void ShowBlock(ThreadReplay& thread, Block& block, const BlockTracker::Verdict& verdict);
  void ShowDeallocate(ThreadReplay& thread, RunCursor& cursor);
  void ShowHolds(const ThreadReplay& thread, RunCursor& cursor);
  void ShowCall(const ThreadReplay& thread, RunCursor& cursor);
  void ShowStack(ThreadReplay& thread, StackId stack, Tick tick, bool before);
  void ShowMark(const ThreadReplay& thread, RunCursor& cursor);
  void ShowStep(const ThreadReplay& thread, RunCursor& cursor);
  // Of devices with a caching allocator: replayer_devices.cc.
  void ShowDeviceEvent(ThreadReplay& thread, RunCursor& cursor);
  void ShowFreeCompleted(ThreadReplay& thread, RunCursor& cursor);
  void ShowFreeCompleted(ThreadReplay& thread, DeviceId device, std::uint64_t address, std::uint64_t serial, Tick tick);
  void ShowSegment(ThreadReplay& thread, RunCursor& cursor);
  void ShowOutOfMemory(ThreadReplay& thread, RunCursor& cursor);
  void ShowStatistics(ThreadReplay& thread, RunCursor& cursor);
  // What the driver gives: replayer_driver.cc.
  void ShowDriverEvent(ThreadReplay& thread, RunCursor& cursor);
  void ShowDriverAllocate(ThreadReplay& thread, RunCursor& cursor);
  void ShowDriverFree(ThreadReplay& thread, RunCursor& cursor);
  void ShowDriverRefused(ThreadReplay& thread, RunCursor& cursor);
  void ShowDeviceReading(ThreadReplay& thread, RunCursor& cursor);
  DriverBlock DriverBlockAt(ThreadReplay& thread, RunCursor& cursor);
  void ShowDeviceCall(const ThreadReplay& thread, RunCursor& cursor);
  void ShowHostReading(const ThreadReplay& thread, RunCursor& cursor);
  void ShowKernelRun(const ThreadReplay& thread, RunCursor& cursor);
  void ApplyDriver(const v1::Keyframe& keyframe);
  void ShowReadings(const v1::Keyframe& keyframe);
  void ShowHostReadings(const v1::Keyframe& keyframe);
  void ApplySegments(const v1::Keyframe& keyframe);
  void ApplyFreeing(const v1::Keyframe& keyframe);
  void TakePlace(RunCursor& cursor, Block& block);
  DeviceMemory& MemoryOf(DeviceId device);
  static void NoteFinding(DeviceMemory& memory, ThreadId thread, bool found);
  bool IsCaching(DeviceId device) const {
    return device.value < memories_.size() && memories_[device.value] != nullptr && memories_[device.value]->caching();
  }
  // A block or what is like one, at the event in hand: address, serial, device, and what runs on the thread.
  Block BlockAt(ThreadReplay& thread, RunCursor& cursor);
  Block BlockOn(ThreadReplay& thread, DeviceId device, Tick tick);  // but for address and serial
  void ShowSwitch(ThreadReplay& thread, RunCursor& cursor);
  void NoteSwitch(const SwitchEvent& event);
  void ForgetBefore(ThreadId by, Tick tick);
  void SwitchSkimming(bool skim);
  bool Skim(ThreadReplay& thread, RunCursor& cursor);  // true: the event in hand is passed over
  void BeginGap(v1::RecordingLevel level, std::uint64_t ns);
  void EndGap();

  // What a range of a name is by that, once the name was looked at.
  struct NameRoles {
    RangeRole of_user, of_others;
    bool known = false;
    bool accumulates = false;  // the node that accumulates a parameter's gradient
  };
  const NameRoles& LookAt(NameId name);
  const NameRoles& RolesOf(NameId name) {
    const bool known = name.value < name_roles_.size() && name_roles_[name.value].known;
    return known ? name_roles_[name.value] : LookAt(name);
  }
  RangeRole RoleOf(NameId name, RangeSource source) {
    RangeRole role;
    if (name.valid()) role = source == RangeSource::kUser ? RolesOf(name).of_user : RolesOf(name).of_others;
    if (source == RangeSource::kBackward) role.backward = true;
    return role;
  }
  static ModuleContext OwnContextOf(const ThreadReplay& thread);
  ModuleContext ContextOf(const ThreadReplay& thread);
  ForwardOperator ForwardOperatorOf(const OpenRange& backward);
  Callstacks CallstacksOf(const ThreadReplay& thread);
  ThreadReplay* FindTorchThread(std::uint64_t torch_id);
  void FindModule(ThreadReplay& thread);  // of the range that has just begun
  void ShowModule(ThreadReplay& thread, RunCursor& cursor, bool enter);
  bool TakeGradientOf(ThreadReplay& thread, ModuleEvent& event);

  // Threads that work for others: replayer_bases.cc.
  const ThreadReplay* FindThread(ThreadId id) const {
    return id.valid() && id.value < threads_.size() ? threads_[id.value].get() : nullptr;
  }
  const ThreadReplay& WorkingThread(const ThreadReplay& thread) const {
    // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): threads are never temporary
    return dictionary_.threads_work_for_others() ? FindWorkingThread(thread) : thread;
  }
  const ThreadReplay& FindWorkingThread(const ThreadReplay& thread) const;
  RangeBase UserBaseOf(const ThreadReplay& thread) const;
  RangeBase BaseOf(const ThreadReplay& thread) const;  // of what begins with no range open on it
  NameId UserNameOf(const RangeBase& base) const;
  NameId UserNameOf(const ThreadReplay& thread) const;
  void NoteForwardThread(ThreadReplay& thread, const OpenRange& beginning);
  bool WaitsForNode(const ThreadReplay& thread, const RunCursor& cursor);

  Tensor TensorOf(const TensorRow& row);
  void TakeTensors(RunCursor& cursor, std::uint32_t count);
  void TakeHoldsNames(RunCursor& cursor, std::uint32_t count);
  void ShowFirstSeen(ThreadReplay& thread, RunCursor& cursor, bool as_result);
  void PushRange(ThreadReplay& thread, OpenRange& range, RangeBeginEvent& event);
  void PopRange(ThreadReplay& thread, Tick tick, SignatureId signature, bool implicit);
  void SetDepth(ThreadReplay& thread, std::size_t depth, Tick tick);
  void CloseOtherRanges(const absl::flat_hash_set<ThreadId>& except, Tick tick);
  Block* Open(const Block& block, const RangeStack* stack, Tick tick);
  // `block` lies in the live set.
  void Close(const Block& block, ThreadId by, Tick tick, DeallocateCause cause, std::uint64_t serial = 0);
  ThreadReplay& ThreadOf(ThreadId id) {
    ThreadReplay* const known = id.value < threads_.size() ? threads_[id.value].get() : nullptr;
    return known != nullptr ? *known : AddThread(id);
  }
  ThreadReplay& AddThread(ThreadId id);
  void SayDamage(std::string what);

  const std::vector<ProcessSummary>& processes_;
  Visitor& visitor_;
  const ReplayOptions& options_;
  ReplayReport* report_;
  const bool look_at_tensors_;
  const Symbols& symbols_;
  Dictionary dictionary_;
  std::vector<Clock> clocks_;  // by ProcessId
  ProcessId process_;
  std::optional<ProcessIds> ids_;
  BlockTracker blocks_;
  KnownBlocks known_blocks_;
  OperatorSight sight_;
  DriverMemory driver_;
  std::vector<std::unique_ptr<DeviceMemory>> memories_;  // by DeviceId; of earlier processes: nullptr
  std::vector<std::unique_ptr<ThreadReplay>> threads_;   // by ThreadId; of earlier processes: nullptr
  std::vector<ThreadReplay*> heap_;                      // threads with runs, least tick first
  StretchTable stretches_;                               // of the part
  std::deque<RepeatCursor> repeats_;                     // in their order, not shown yet
  ShownCycle cycle_;                                     // of rows
  std::vector<Tensor> tensors_;                          // of the event in hand
  std::vector<std::uint32_t> tensor_rows_;               // of the event in hand, 0: not recorded
  std::vector<NameId> holds_names_;                      // of the event in hand
  Damage damage_place_;                                  // the chunk in hand
  Tick now_ = 0;                                         // latest tick shown
  std::uint64_t calls_ = 0, allocations_ = 0, unknown_serials_ = 0;
  std::vector<NameRoles> name_roles_;                           // by NameId
  absl::flat_hash_map<std::uint64_t, ThreadId> torch_threads_;  // of this process
  std::size_t waiting_chunks_ = 0;                              // taken while runs were held back
  ThreadId last_forward_thread_;                                // of a node, where a user range was open
  enum { kNever, kMayWait, kWaits } waiting_ = kNever;          // of the Drain that runs
  bool began_ = false;                                          // a chunk of this process was taken
  bool resync_ = false;                                         // chunks were lost: apply the next keyframe
  bool after_evicted_ = false, passed_evicted_ = false;         // a gap of --max-size: no keyframe behind it yet
  Tick evicted_from_ = 0;
  bool finding_ = false;                       // the allocation in hand is of a block that a snapshot found
  bool told_full_ = false, gap_open_ = false;  // gap: less than everything is recorded here
  bool skimming_ = false;                      // the newest chunk is Chunk::memory_alone
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAYER_H_
