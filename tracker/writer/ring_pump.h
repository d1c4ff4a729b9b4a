// Moves what was committed from the ring into chunks: scans, merges the threads by tick, and hands segments back once
// their records are on file.
//
// Records stay in the ring until a chunk is worth writing, and a chunk's records are consumed only after the write. So
// a process killed at any instant has each record in the ring, on file, or both, and memoir-drain can tell by the
// record index.
//
// Order: a pass takes only events up to its horizon, a tick read before the scan. What lies before it and is not
// visible cannot have happened before anything that is (an allocation commits before its address can be freed
// elsewhere), so on each address the merged order is the true one. Events behind the horizon wait for the next pass; if
// their clock is off, they are taken there anyway. One thread.
#ifndef TRACKER_WRITER_RING_PUMP_H_
#define TRACKER_WRITER_RING_PUMP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "interpose/ring_reader.h"
#include "tracker/writer/capture_writer.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/event_group.h"

namespace memoir {

class RingPump {
 public:
  // `at_out_of_memory`: called where the newest event on file is such an error; may be empty.
  RingPump(RingReader* ring, ChunkBuilder* builder, CaptureWriter* capture,
           std::function<void()> at_out_of_memory = nullptr)
      : ring_(*ring), builder_(*builder), capture_(*capture), at_out_of_memory_(std::move(at_out_of_memory)) {}

  // Bytes that wait in the ring, counted in whole segments for all but the last of each thread.
  std::uint64_t Waiting();

  // Packs and writes everything up to the horizon. `whole`: no producer is left, so groups without their last records
  // will stay so. Returns whether anything was written.
  bool Pass(std::uint64_t horizon, bool whole);
  // Whether the last pass left events behind its horizon, or unfinished groups.
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
  std::vector<SegmentView> views_;
  std::size_t view_count_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;
  std::size_t source_count_ = 0;
  std::vector<Source*> heap_;
  std::uint64_t complete_until_ = 0;  // of this pass: its horizon, or the oldest group that had to stay
  bool left_some_ = false;
  bool wrote_ = false;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_RING_PUMP_H_
