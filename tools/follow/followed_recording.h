// One process's recording while it is being written. New chunks of its parts go through a Replayer to a visitor. The
// recorded program is not involved.
//
//     part 3 (whole) ──► part 4 │chunk│chunk│chunk│ch…      an incomplete chunk is read later
//                                      ▲ read up to here
//
// One thread.
#ifndef TOOLS_FOLLOW_FOLLOWED_RECORDING_H_
#define TOOLS_FOLLOW_FOLLOWED_RECORDING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/follow/cpu_budget.h"
#include "tools/model/capture.h"
#include "tools/model/replay/replayer.h"
#include "tools/read/capture_folder.h"
#include "tools/read/part_file.h"

namespace memoir {

class FollowedRecording {
 public:
  // A recording of at most this many bytes is read from its start. A larger recording is read from its last keyframe
  // on, so only sums of earlier events are known.
  static constexpr std::uint64_t kMostFromStart = std::uint64_t{128} << 20;

  // `files` as OpenFolder returns them. `symbols` and `visitor` must outlive this object.
  FollowedRecording(ProcessFiles files, const Symbols& symbols, Visitor& visitor,
                    std::uint64_t most_from_start = kMostFromStart);
  FollowedRecording(const FollowedRecording&) = delete;
  FollowedRecording& operator=(const FollowedRecording&) = delete;

  // Adds a later part of the recording.
  void AddPart(PartFile part) { parts_.push_back(std::move(part)); }
  // Reads new chunks; returns true if there were any. Calls `go_on` before each chunk, and stops if it returns false.
  bool ReadNewChunks(CpuBudget& budget, const std::function<bool()>& go_on);

  // The process information of the newest part.
  const v1::ProcessInfo& info() const { return summaries_[0].info; }
  const v1::Counters& counters() const { return report_.processes[0].counters; }
  bool has_end() const { return report_.processes[0].end.reason() != v1::End::UNKNOWN; }
  const v1::End& end() const { return report_.processes[0].end; }
  const ReplayReport& report() const { return report_; }
  std::uint64_t newest_realtime_ns() const { return newest_.realtime_ns(); }  // when the newest chunk was written
  Tick newest_tick() const { return newest_.tick(); }
  std::uint64_t events() const { return report_.events; }
  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t chunks_in_full() const { return in_full_; }
  std::uint64_t file_bytes() const { return file_bytes_; }  // bytes read so far
  bool begun_late() const { return begun_late_; }           // true: the first events of the recording are missing
  bool is_gone() const { return gone_; }                    // true: its newest file was removed
  const std::vector<Damage>& damage() const { return report_.damage; }
  // Returns true if the file at `path` is a part of this recording, whether it was read or not.
  bool HasPart(const std::string& path) const;

 private:
  void FindStart(std::uint64_t most_bytes);
  void TakeChunks(PartFile& part, CpuBudget& budget, const std::function<bool()>& go_on, bool* stopped);
  // Returns false if the file was removed.
  bool TakeChunk(const PartFile& part, const ChunkHeader& header, bool in_full);
  void TakeGap(const PartFile& part, const ChunkHeader& header, bool removed);
  void ReplayItem(SourceItem::Kind kind);
  void NoteInfo(const PartFile& part);

  std::vector<ProcessSummary> summaries_;  // one element
  ReplayOptions options_;
  ReplayReport report_;
  std::unique_ptr<Replayer> replayer_;
  std::deque<PartFile> parts_;     // the first one is being read
  std::vector<std::string> seen_;  // paths of parts that were read
  std::deque<std::string> paths_;  // paths of parts whose chunks the replayer still holds; Chunk::file points to one
  PayloadReader reader_;
  SignatureCountsById signatures_;
  std::size_t definitions_ = 0;  // chunks of the first part from which only definitions are read
  std::uint64_t expected_sequence_ = 0;
  std::uint64_t last_part_ = 0;
  bool sequence_known_ = false, part_begins_ = true, leave_rest_ = false;
  // The previous part was removed, perhaps before all its chunks were read: --max-size evicts the oldest parts.
  bool removed_ = false;
  v1::ClockSync newest_;
  std::uint64_t chunks_ = 0, in_full_ = 0, file_bytes_ = 0;
  bool begun_late_ = false, gone_ = false;
};

}  // namespace memoir

#endif  // TOOLS_FOLLOW_FOLLOWED_RECORDING_H_
