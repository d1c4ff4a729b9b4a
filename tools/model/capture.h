// A capture: all processes of a folder, opened as one. Opening reads the chunk headers of every part; events stay in
// the files and are streamed by Replay, so that memory does not grow with their number.
//
// Immutable once open; several threads may replay it at once, each with its own visitor.
#ifndef TOOLS_MODEL_CAPTURE_H_
#define TOOLS_MODEL_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memoir/v1/capture.pb.h"
#include "tools/model/device_memory.h"
#include "tools/model/dictionary.h"
#include "tools/model/driver_memory.h"
#include "tools/model/event.h"
#include "tools/model/ids.h"
#include "tools/model/known_steps.h"
#include "tools/read/damage.h"

namespace memoir {

// What is known of a process without reading its events.
struct ProcessSummary {
  ProcessId id;
  v1::ProcessInfo info;  // of its first part; about its rank, what its newest part knows
  bool is_rank = true;   // false: no launcher numbered it, and others of the capture are ranks (a launcher, a parent)
  std::optional<std::uint32_t> rank() const { return is_rank ? std::optional(info.rank()) : std::nullopt; }
  std::uint64_t parts = 0;
  std::uint64_t missing_parts = 0;  // before or between those that are there; Counters.folded_parts of them on purpose
  bool starts_at_first_chunk = true;  // false: what came before is gone; a replay starts from a keyframe
  std::uint64_t file_bytes = 0;
  std::uint64_t events = 0;  // as the chunk headers count them
  Tick first_tick = 0;
  Tick last_tick = 0;
  std::uint64_t start_ns = 0;  // its start, since the start of the capture's earliest process
  // Its ring file, when it still lies on this host and the process is dead: what it holds is not in the parts yet.
  // Reading never merges it; the caller may start memoir-drain and open again.
  std::string pending_ring;
};

struct ReplayOptions {
  bool tensors = false;                  // fill RangeBeginEvent::tensors and RangeEndEvent::tensors
  bool first_seen = true;                // find storages first seen; costs a look at every tensor
  bool modules = false;                  // find the module and phase of ranges and blocks
  std::optional<std::uint32_t> rank;     // replay only the processes of this rank
  std::function<void(double)> progress;  // called now and then with the part done, 0..1
  // Return false from it to stop early (called once a chunk).
  std::function<bool()> go_on;
};

// Found while replaying; complete when Replay returns.
struct ReplayReport {
  std::uint64_t events = 0;                   // decoded
  std::uint64_t lost_records = 0;             // gaps in record indices
  std::uint64_t repeated_records = 0;         // overlaps of record indices
  std::uint64_t lost_chunks = 0;              // gaps in chunk sequence
  std::uint64_t late_events = 0;              // earlier tick than an event already shown
  std::uint64_t replaced_blocks = 0;          // DeallocateCause::kReplaced
  std::uint64_t unmatched_deallocations = 0;  // no allocation known: from before the recording, or lost
  std::uint64_t keyframe_mismatches = 0;      // keyframes whose device totals are not what the events gave
  std::uint64_t statistics_mismatches = 0;    // times that a device's allocator counted otherwise than its events
  std::vector<Damage> damage;                 // of opening and replaying; none of a process that is not replayed
  struct Process {
    bool replayed = false;          // false: not of the rank that was asked for; nothing below is known
    v1::Counters counters;          // the last that were seen
    v1::End end;                    // End::UNKNOWN: not ended in good order
    std::uint64_t duration_ns = 0;  // from its start to its last event
    struct FoldedPeak {
      std::string device;  // "cpu"
      std::uint64_t bytes = 0, ns = 0;
    };
    // When less than everything was recorded; in order, and at most kMaxGaps of them.
    struct Gap {
      v1::RecordingLevel level = v1::LEVEL_OFF;
      std::uint64_t begin_ns = 0;
      std::uint64_t end_ns = 0;
      bool ended = false;  // false: it lasts until the end
    };
    static constexpr std::size_t kMaxGaps = 1000;
    std::vector<Gap> gaps;
    std::uint64_t gap_count = 0;  // all of them
    KnownSteps known_steps;
    std::uint64_t unknown_blocks = 0, unknown_bytes = 0;  // DeallocateCause::kUnknown
    // Of which --max-size left sums alone: before the first keyframe left, and between parts that it kept. At most
    // kMaxGaps.
    struct Span {
      std::uint64_t begin_ns = 0;
      std::uint64_t end_ns = 0;
    };
    std::vector<Span> evicted;
    bool evicted_at_start = false;         // the first of them is that
    std::vector<FoldedPeak> folded_peaks;  // of all before the keyframe behind the last of these
    // What happened and is not in the capture, because the recorder could not see it; in order.
    struct Unrecorded {
      v1::Unrecorded::What what = v1::Unrecorded::UNKNOWN;
      std::uint64_t begin_ns = 0;
      std::uint64_t end_ns = 0;
      bool ended = false;  // false: it lasts until the end
      std::string why;     // one line
    };
    std::vector<Unrecorded> unrecorded;
    // The first span in which CUDA memory is not known, and the one that lasts until the end; nullptr: none.
    const Unrecorded* UnknownCudaMemory() const;
    const Unrecorded* UnknownCudaMemoryAtEnd() const;
  };
  std::vector<Process> processes;  // by ProcessId
};

// What a visitor may ask during a replay.
class ReplayState {
 public:
  virtual ~ReplayState() = default;
  virtual const Dictionary& dictionary() const = 0;
  // Since the start of the capture's earliest process, by the clock readings around.
  virtual std::uint64_t Nanoseconds(ProcessId process, Tick tick) const = 0;
  virtual void ForEachLiveBlock(const std::function<void(const Block&)>& function) const = 0;  // of the current process
  virtual std::uint64_t live_bytes(DeviceId device) const = 0;  // of the current process, the event in hand included
  // nullptr: none begins there. Valid during the event.
  virtual const Block* LiveBlockAt(DeviceId device, std::uint64_t address) const = 0;
  // Whose ranges say what a thread does: its own, or those of the thread in whose parallel region it works.
  virtual ThreadId working_thread(ThreadId thread) const = 0;
  // The ranges that are open there.
  virtual const RangeStack& stack(ThreadId thread) const = 0;
  // Of a device of the current process, the event in hand included.
  virtual const DeviceMemory& memory(DeviceId device) const = 0;
  // Of the current process, the event in hand included.
  virtual const DriverMemory& driver() const = 0;
};

class DecodedChunks;

// One use of a folder that was used several times.
struct RecordedRun {
  std::uint64_t start_ns = 0;  // since 1970
  std::size_t processes = 0;
};
inline constexpr std::uint32_t kLastRun = 0xffffffffu;
inline constexpr std::uint32_t kAllRuns = 0;  // as if they were one

class Capture {
 public:
  // `path`: a capture folder, or one part file of it; `run`: of its runs the n-th, from 1. Errors say what it is
  // instead and what to do: NotFound (also of a run), InvalidArgument (not a capture), Unimplemented (newer format).
  static absl::StatusOr<Capture> Open(const std::string& path, std::uint32_t run = kLastRun);
  Capture(Capture&&) noexcept;
  Capture& operator=(Capture&&) noexcept;
  ~Capture();

  const std::string& path() const;
  const std::vector<ProcessSummary>& processes() const;  // by rank, restart, start; index == ProcessId
  // Of the folder, by their start. All else that a Capture says is of `run()`, the n-th of them, from 1; 0: of all.
  const std::vector<RecordedRun>& runs() const;
  std::uint32_t run() const;
  const std::vector<Damage>& damage() const;  // found so far by opening
  std::uint64_t events() const;               // over all processes, as the chunk headers count them

  // Streams all events through `visitor`. Damage is no error; it is in the report.
  absl::StatusOr<ReplayReport> Replay(Visitor& visitor, const ReplayOptions& options = {}) const;

  // While one lives, what a replay decoded is kept for the next, up to a bound (decoded_chunks.h): around analyses that
  // go through the capture several times. The capture must outlive it, and not be moved.
  class SharedDecoding {
   public:
    explicit SharedDecoding(const Capture& capture);
    ~SharedDecoding();
    SharedDecoding(const SharedDecoding&) = delete;
    SharedDecoding& operator=(const SharedDecoding&) = delete;

   private:
    DecodedChunks* decoded_;
  };

 private:
  struct Contents;
  explicit Capture(std::unique_ptr<Contents> contents);
  static absl::Status ChooseRun(std::uint32_t run, Contents& contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_CAPTURE_H_
