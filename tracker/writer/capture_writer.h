// Writes chunks into parts. Adds sequence numbers, process information, keyframes and counters to the chunks, begins a
// new part when a part is full, and handles failed writes.
//
// A chunk that cannot be written is counted as lost. The writer then tries to begin a new part from time to time, and
// succeeds once the disk has room. The sums in the part's first keyframe include the lost events. One thread.
#ifndef TRACKER_WRITER_CAPTURE_WRITER_H_
#define TRACKER_WRITER_CAPTURE_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/file/chunk_frame.h"
#include "tracker/writer/file/part_sink.h"
#include "tracker/writer/important_parts.h"
#include "tracker/writer/snapshot_writer.h"
#include "tracker/writer/writer_options.h"

namespace memoir {

// Options for the recording of this process, or, in memoir-drain, for records that a dead process left in its ring.
struct CaptureOptions {
  std::string folder;
  std::string stem;
  std::string process_info;  // encoded, without the part's number
  std::uint64_t max_bytes = 0;
  std::uint64_t part_bytes = kDefaultPartBytes;
  bool keyframes = true;  // false for memoir-drain, which lacks the dead process's table of live blocks
  bool retry = true;      // tries a new part after a failed write; memoir-drain returns an error instead
  std::uint64_t retry_ns = kDefaultRetryNs;  // time between a failed write and the next try
  bool keep_empty = true;                    // false: no file remains if all events are host samples
  std::uint64_t first_sequence = 0;          // sequence number of the first chunk
  std::uint32_t first_part = 0;              // number of the first part
  // For memoir-drain: the clocks, as the dead process last read them. tick 0: it never read them. Every chunk contains
  // them in place of this process's clocks, which after a reboot no longer match the ticks in the ring.
  std::optional<RingClock> clock;
  WriterStatus counted_before;             // for memoir-drain: counts of losses in earlier chunks of the recording
  std::optional<HostReading> host_at_end;  // for memoir-drain: a host sample for the last chunk
  std::uint32_t signal_at_end = 0;         // the signal that killed the dead process; 0: unknown
  std::function<void()> on_chunk;          // called after each attempt to write a chunk
};

class CaptureWriter {
 public:
  CaptureWriter(const CaptureOptions& options, const RingReader& ring, ChunkBuilder* builder);

  // Call it before the first event of a chunk. Opens a part if necessary, and writes a keyframe if one is due.
  void Prepare();
  // Writes the builder's chunk and clears it. When it returns, the chunk's events are on disk or counted as lost.
  // `complete_until_tick`: the tick up to which all events have been written.
  void Write(std::uint64_t complete_until_tick);
  // Writes the last chunk (End) and the index, and closes the part. If keep_empty is false and the recording has no
  // events except host samples, removes the part instead.
  void Close(EndReason reason, const std::string& message);

  // Size of the events of a chunk, in bytes, at which the chunk should be written.
  std::size_t chunk_bytes() const { return chunk_bytes_; }
  // Returns true if Close has written the last chunk and the index, or has removed the part.
  bool closed_in_order() const { return closed_in_order_; }
  // Returns true if the ring has counted dropped records, waits or forked children since the last chunk.
  bool CountersChanged() const;
  // Writes a chunk without events, for its counters.
  void WriteCounters(std::uint64_t complete_until_tick);
  // Sets the current facts of the process, for the next chunk and for every later part.
  void SetProcess(std::string process_info);
  // Writes the builder's state as a separate capture, while the chunk is empty. Returns "" or one line with the error.
  std::string WriteSnapshot(const RequestedSnapshot& wish);
  // Allows the next attempt after a failed write at once.
  void RetryNow() { retry_at_ns_ = 0; }
  WriterStatus Status() const;

 private:
  void LeaveFullPart();
  bool OpenPart();
  bool ClosePart();
  void LosePart();
  bool HasNoEvents() const;
  bool PartIsFull() const;
  bool IsNearSizeCap() const;
  bool KeyframeIsDue() const;
  bool WriteKeyframe();
  void MakeRoom();
  void AddClockAndCounters();  // adds them to payload_
  bool AppendPayload(ChunkHeader header);
  void CountLost(std::uint64_t events);
  void RetryLater();

  CaptureOptions options_;
  const RingReader& ring_;
  ChunkBuilder& builder_;
  PartSink sink_;
  ImportantParts kept_;
  SnapshotWriter snapshots_;
  ChunkFrame frame_;
  std::string payload_;
  std::size_t chunk_bytes_;
  std::uint64_t sequence_;
  std::uint32_t part_ = 0;            // number of parts opened; dictionaries are valid for one part
  std::string pending_process_;       // ProcessInfo that the next chunk must contain; "": none
  std::uint64_t keyframe_bytes_ = 0;  // size of the last keyframe
  std::uint64_t bytes_at_keyframe_ = 0;
  std::uint64_t complete_until_tick_ = 0;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t lost_chunks_ = 0;
  RingCounters counters_written_{};
  bool no_next_part_ = false;  // the last attempt to create the next part failed
  bool closed_in_order_ = false;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CAPTURE_WRITER_H_
