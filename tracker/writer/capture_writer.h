// Puts chunks into parts: sequence numbers, process information, keyframes, counters, rotation, and what happens when
// the disk says no.
//
// A chunk that cannot be written is lost and counted, and recording goes on; a fresh part, which starts with a
// keyframe, is tried again from time to time. So what comes after the disk was freed is recorded, and its sums are
// right. One thread.
#ifndef TRACKER_WRITER_CAPTURE_WRITER_H_
#define TRACKER_WRITER_CAPTURE_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "interpose/ring_reader.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/chunk_frame.h"
#include "tracker/writer/kept_parts.h"
#include "tracker/writer/part_sink.h"
#include "tracker/writer/snapshot_writer.h"
#include "tracker/writer/writer_options.h"

namespace memoir {

// Where a recording, or the draining of a dead one, starts from.
struct CaptureOptions {
  std::string folder;
  std::string stem;
  std::string process_info;  // encoded, without part
  std::uint64_t max_bytes = 0;
  std::uint64_t part_bytes = kDefaultPartBytes;
  bool keyframes = true;                     // not when draining: the live set died with the process
  bool retry = true;                         // after a failed write; a drainer rather fails and is run again
  std::uint64_t retry_ns = kDefaultRetryNs;  // but not before so long
  bool keep_empty = true;                    // false: a recording without any event leaves no file
  std::uint64_t first_sequence = 0;
  std::uint32_t first_part = 0;  // its number
  // Instead of this process's clocks in every chunk: the last reading of the dead one, tick 0: none. A drainer's own
  // say nothing about the ticks in the ring; it may run after the machine has started anew.
  std::optional<RingClock> clock;
  WriterStatus counted_before;  // losses noted in chunks already on file
  std::optional<HostReading> host_at_end;
};

class CaptureWriter {
 public:
  CaptureWriter(const CaptureOptions& options, const RingReader& ring, ChunkBuilder* builder);

  // Before the first event of a chunk: sees to it that there is a part to write to, and a keyframe where one is due.
  void Prepare();
  // Writes the builder's chunk and clears it. Its events are on file, or counted as lost, when it returns.
  void Write(std::uint64_t complete_until_tick);
  // The last chunk (End) and the index; closes the part.
  void Close(EndReason reason, const std::string& message);

  // Packed bytes after which a chunk should be written.
  std::size_t chunk_bytes() const { return chunk_bytes_; }
  // Close has put the end on file.
  bool closed_in_order() const { return closed_in_order_; }
  // Whether the ring's or the writer's counters have changed since the last chunk.
  bool CountersChanged() const;
  // An otherwise empty chunk, so that readers see them.
  void WriteCounters(std::uint64_t complete_until_tick);
  // What is known of the process now: goes into the next chunk, and into every later part.
  void SetProcess(std::string process_info);
  // The builder's state, its chunk being empty, as a capture of its own. "" or one line.
  std::string WriteSnapshot(const SnapshotWish& wish);
  // Tries the disk again now, not after a while.
  void RetryNow() { retry_at_ns_ = 0; }
  WriterStatus Status() const;

 private:
  void LeaveFullPart();
  bool OpenPart();
  bool ClosePart();
  void LosePart();
  bool HoldsNothing() const;
  bool PartIsFull() const;
  bool ComesToTheCap() const;
  bool KeyframeIsDue() const;
  bool WriteKeyframe();
  void MakeRoom();
  void AddClockAndCounters();  // to the payload that is about to be written
  bool AppendPayload(ChunkHeader header);
  void CountLost(std::uint64_t events);
  void TryLater();

  CaptureOptions options_;
  const RingReader& ring_;
  ChunkBuilder& builder_;
  PartSink sink_;
  KeptParts kept_;
  SnapshotWriter snapshots_;
  ChunkFrame frame_;
  std::string payload_;
  std::size_t chunk_bytes_;
  std::uint64_t sequence_;
  std::uint32_t part_ = 0;            // counts the parts opened; what dictionaries are valid for
  std::string pending_process_;       // ProcessInfo for the next chunk: a part's first, or more is known
  std::uint64_t keyframe_bytes_ = 0;  // of the last one
  std::uint64_t bytes_at_keyframe_ = 0;
  std::uint64_t complete_until_tick_ = 0;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t lost_chunks_ = 0;
  RingCounters counters_written_{};
  bool no_next_part_ = false;  // the last try to make one failed
  bool closed_in_order_ = false;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CAPTURE_WRITER_H_
