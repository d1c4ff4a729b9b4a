// Moves committed records from the ring into chunks. Scans the ring, merges the records of all threads by tick, and
// releases ring extents once their records are written.
//
// Records stay in the ring until there are enough for a chunk. They are marked as consumed only after the chunk is
// written. So if the process is killed at any time, each record is in the ring, on disk, or both. memoir-drain
// distinguishes these cases by the index of the record.
//
// Order: PackUntil takes only events up to its horizon, a tick that the caller has read before the scan. An event
// before the horizon may be missing from the scan, because its thread had not committed it yet. Such an event is never
// an earlier event of an address whose later events are in the scan: an allocation is committed before another thread
// can free its address. So for each address the merged order is the true order. Events after the horizon wait for the
// next call. The next call takes them even if they are after its horizon as well, because the clock of their processor
// may be wrong. One thread.
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

  // Scans the ring, and returns the number of bytes in it that are not consumed. A full ring extent counts with its
  // whole size.
  std::uint64_t CountWaitingBytes();

  // Packs and writes all events up to the horizon. `whole`: no thread writes records any more, so incomplete groups
  // (events that lack tensor records) are taken as they are. Returns true if a chunk was written.
  bool PackUntil(std::uint64_t horizon, bool whole);
  // Returns true if the last call of PackUntil left events after its horizon, or incomplete groups.
  bool left_some() const { return left_some_; }

 private:
  // The records of one thread in the current scan, and the thread's next event.
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
