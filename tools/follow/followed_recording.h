// One process's recording while it is being written: what its parts have since the last look goes through a Replayer
// of its own to a visitor. Nothing in the recorded program knows of it.
//
//     part 3 (whole) ──► part 4 │chunk│chunk│chunk│ch…      what is not whole yet waits for the next look
//                                      ▲ last look
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
#include "tools/model/replayer.h"
#include "tools/read/folder.h"
#include "tools/read/part_file.h"

namespace memoir {

class FollowedRecording {
 public:
  // Larger ones are begun at their last keyframe: what was before is in its sums alone.
  static constexpr std::uint64_t kMostFromStart = std::uint64_t{128} << 20;

  // `files` as OpenFolder has them; `symbols` and `visitor` must outlive it.
  FollowedRecording(ProcessFiles files, const Symbols& symbols, Visitor& visitor,
                    std::uint64_t most_from_start = kMostFromStart);
  FollowedRecording(const FollowedRecording&) = delete;
  FollowedRecording& operator=(const FollowedRecording&) = delete;

  // A later part of it.
  void AddPart(PartFile part) { parts_.push_back(std::move(part)); }
  // Takes what is there; true: something new was. `go_on`: asked before each chunk, false ends the look.
  bool Look(CpuBudget& budget, const std::function<bool()>& go_on);

  // What the newest part knows.
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
  std::uint64_t file_bytes() const { return file_bytes_; }  // read so far
  bool begun_late() const { return begun_late_; }           // not from its first event on
  bool is_gone() const { return gone_; }                    // its newest file was removed
  const std::vector<Damage>& damage() const { return report_.damage; }
  // Of its parts: whether a file of that name is one of them.
  bool Has(const std::string& path) const;

 private:
  void FindStart(std::uint64_t most_bytes);
  void TakeChunks(PartFile& part, CpuBudget& budget, const std::function<bool()>& go_on, bool* stopped);
  // False: its file was removed.
  bool TakeChunk(const PartFile& part, const ChunkHeader& header, bool in_full);
  void TakeGap(const PartFile& part, const ChunkHeader& header, bool removed);
  void Give(SourceItem::Kind kind);
  void NoteInfo(const PartFile& part);

  std::vector<ProcessSummary> summaries_;  // one
  ReplayOptions options_;
  ReplayReport report_;
  std::unique_ptr<Replayer> replayer_;
  std::deque<PartFile> parts_;     // the first is being read
  std::vector<std::string> seen_;  // paths of those that were
  std::deque<std::string> paths_;  // of chunks that wait in the replayer: a Chunk points at one
  PayloadReader reader_;
  SignatureTensors signatures_;
  std::size_t definitions_ = 0;  // chunks of the first part of which only what they define is wanted
  std::uint64_t expected_sequence_ = 0;
  std::uint64_t last_part_ = 0;
  bool sequence_known_ = false, part_begins_ = true, leave_rest_ = false;
  bool removed_ = false;  // the part before, perhaps with chunks that were not read: --max-size evicts the oldest
  v1::ClockSync newest_;
  std::uint64_t chunks_ = 0, in_full_ = 0, file_bytes_ = 0;
  bool begun_late_ = false, gone_ = false;
};

}  // namespace memoir

#endif  // TOOLS_FOLLOW_FOLLOWED_RECORDING_H_
