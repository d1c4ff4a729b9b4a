// Packs events: encodes them in the payload of one chunk, and keeps the state that keyframes need. Passes each event to
// its packer (packers.def).
//
//     EventGroup ──► packer ──► columns of its thread's run, or a pattern row
//                           ──► dictionaries: the names, layouts, stacks, ... that this part has not defined yet
//                           ──► tensor table of this chunk
//                           ──► state: open ranges, live blocks, totals
//
// Opens no file. One thread.
#ifndef TRACKER_WRITER_CHUNK_BUILDER_H_
#define TRACKER_WRITER_CHUNK_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/events/event_group.h"
#include "tracker/writer/pack/chunk_runs.h"
#include "tracker/writer/pack/packers.h"
#include "tracker/writer/state/driver_state.h"
#include "tracker/writer/state/host_state.h"
#include "tracker/writer/state/memory_state.h"
#include "tracker/writer/state/threads.h"

namespace memoir {

class ChunkBuilder {
 public:
  explicit ChunkBuilder(const RingReader& ring, std::size_t max_live_blocks = kMaxLiveBlocks);

  // Stores repeated steps as pattern rows (pattern_matcher.h). Call it before the first event.
  void FollowSteps() { follows_steps_ = true; }
  // Begins another part, in which the dictionaries are defined again. Call it only while the chunk is empty.
  void SetPart(std::uint32_t part) {
    packers_.shared.part = part;
    packers_.rows.BeginPart();
  }
  void Add(ThreadState& thread, const EventGroup& group);
  // Sets the thread's Python stack from `record`. RingPump calls it for the records in ThreadRecords::skipped_stacks.
  void TakeStack(ThreadState& thread, const StackRecord& record) { packers_.python.TakeStack(thread, record); }

  bool empty() const { return runs_.empty() && packers_.rows.empty(); }
  std::size_t bytes() const {
    return packers_.shared.definitions.size() + runs_.bytes() + packers_.arguments.bytes() + packers_.rows.bytes();
  }
  std::uint64_t events() const { return events_; }
  std::uint64_t first_tick() const { return first_tick_; }
  std::uint64_t last_tick() const { return last_tick_; }

  // Appends dictionaries, tensors, runs and pattern rows to a Payload. No event may be added between this call and
  // Clear.
  void AddTo(std::string* payload);
  void Clear();

  // Appends a keyframe: the state after all events added so far. In front of it, appends the dictionaries that it
  // needs.
  void AddKeyframe(std::uint64_t tick, std::string* payload);

  // For a snapshot: adds events, with the tick `tick`, for the tensors that modules and optimizers hold. Call it while
  // the chunk is empty, and call Clear when the snapshot is written.
  void AddCurrentHoldings(std::uint64_t tick);

  Threads& threads() { return packers_.shared.threads; }
  const MemoryState& memory() const { return packers_.shared.memory; }
  const DriverState& driver() const { return packers_.driver.driver(); }
  const HostState& host() const { return packers_.driver.host(); }

 private:
  void Pack(ThreadState& thread, const EventGroup& group);
  // Packs the event in a pattern row, if a pattern row can contain the event.
  RowResult PackInRow(ThreadState& thread, const EventGroup& group);
  void NoteEvent(ThreadState& thread, const EventGroup& group);
  void MarkUsedNames(std::unordered_set<std::uint32_t>* used) const;
  void MarkUsedStacks(StackTable::Users users, const std::function<void(std::uint32_t)>& use) const;

  Packers packers_;
  ChunkRuns runs_{packers_.shared};
  bool follows_steps_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t all_events_ = 0;  // number of events in all chunks
  std::uint64_t first_tick_ = 0;
  std::uint64_t last_tick_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CHUNK_BUILDER_H_
