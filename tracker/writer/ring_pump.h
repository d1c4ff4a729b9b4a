// Moves committed records from the ring into chunks. Scans the ring, merges the records of all threads by tick, and
// releases ring extents once their records are written.
//
// Records stay in the ring until there are enough for a chunk, and are consumed only after the chunk is written. So if
// the process is killed at any time, each record is in the ring, on disk, or both. memoir-drain distinguishes these
// cases by the index of the record.
//
// Order: PackUntil takes only events before its horizon, which is a tick that was read before the scan. An event before
// the horizon may not be visible yet. Such an event cannot have happened before a visible event of the same address,
// because an allocation is committed before its address can be freed on another thread. So for each address the merged
// order is the true order. Events after the horizon wait for the next call, which takes them even if their clock is
// wrong. One thread.
#ifndef TRACKER_WRITER_RING_PUMP_H_
#define TRACKER_WRITER_RING_PUMP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/capture_writer.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/events/event_group.h"

namespace memoir {

class RingPump {
 public:
  // `at_out_of_memory`: called when the newest event that was written is an out-of-memory error; may be empty.
  RingPump(RingReader* ring, ChunkBuilder* builder, CaptureWriter* capture,
           std::function<void()> at_out_of_memory = nullptr)
      : ring_(*ring), builder_(*builder), capture_(*capture), at_out_of_memory_(std::move(at_out_of_memory)) {}

  // Returns the number of bytes in the ring that are not consumed. A full ring extent counts as a whole.
  std::uint64_t CountWaitingBytes();

  // Packs and writes all events before the horizon. `whole`: no thread writes records any more, so incomplete groups
  // (events that lack tensor records) are taken as they are. Returns true if a chunk was written.
  bool PackUntil(std::uint64_t horizon, bool whole);
  // Returns true if the last call of PackUntil left events after its horizon, or incomplete groups.
  bool left_some() const { return left_some_; }

 private:
  struct Source {
    ThreadRecords records;
    EventGroup group;
    ThreadState* thread = nullptr;
  };

  void Scan();
  void DropEnded(const std::vector<std::uint32_t>& ended);
  void OpenSources();
  bool Load(Source* source, std::uint64_t horizon, bool whole);
  bool LoadIncomplete(Source* source);
  void Take(Source* source, std::uint64_t horizon);
  void Merge(std::uint64_t horizon, bool whole);
  void Cut(std::uint64_t complete_until_tick);
  void NoteSeen();

  RingReader& ring_;
  ChunkBuilder& builder_;
  CaptureWriter& capture_;
  const std::function<void()> at_out_of_memory_;
  std::vector<RingExtentView> views_;
  std::size_t view_count_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;
  std::size_t source_count_ = 0;
  std::vector<Source*> heap_;
  // Tick up to which this call of PackUntil has taken all events: its horizon, or the tick of the oldest group that was
  // not taken.
  std::uint64_t complete_until_ = 0;
  bool left_some_ = false;
  bool wrote_ = false;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_RING_PUMP_H_
