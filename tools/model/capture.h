// A capture: the recordings of all processes in a folder. Opening a capture reads only the chunk headers of every part.
// Replay reads the events from the files, and passes them to a Visitor (event/event.h) one after another. Therefore
// memory does not grow with the number of events.
//
// A Capture is immutable once it is open. Several threads may replay it at the same time, each with its own visitor.
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
#include "tools/model/driver_memory.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"
#include "tools/model/repeated_step_counts.h"
#include "tools/read/damage.h"

namespace memoir {

// The facts about a process that are known without its events.
struct ProcessSummary {
  ProcessId id;
  v1::ProcessInfo info;  // from the first part; fields that can change (UpdateProcessInfo) are from the newest part
  bool is_rank = true;   // false: the process has no rank, but another process of the capture has one
  std::optional<std::uint32_t> rank() const { return is_rank ? std::optional(info.rank()) : std::nullopt; }
  std::uint64_t parts = 0;
  std::uint64_t missing_parts = 0;    // parts missing before or between the existing parts; includes evicted parts
  bool starts_at_first_chunk = true;  // false: the first chunks are missing, and a replay starts at a keyframe
  std::uint64_t file_bytes = 0;
  std::uint64_t events = 0;  // sum of the event counts in the chunk headers
  Tick first_tick = 0;
  Tick last_tick = 0;
  std::uint64_t start_ns = 0;  // start of the process, counted from the start of the capture's earliest process
  // Path of the ring file, if the process is dead and the file is on this host. The newest events are in this file and
  // not in the parts yet. The caller may run memoir-drain and open the capture again. Empty if there is no file.
  std::string pending_ring;
};

struct ReplayOptions {
  bool tensors = false;    // fill RangeBeginEvent::tensors and RangeEndEvent::tensors
  bool first_seen = true;  // call OnFirstSeen for storages without a recorded allocation; costs a look-up per tensor
  bool modules = false;    // find the module and phase of ranges and blocks
  std::optional<std::uint32_t> rank;     // replay only the processes of this rank
  std::function<void(double)> progress;  // called from time to time with the finished fraction, 0..1
  // Called after each of the following: a chunk, the begin or end of a process, a place where chunks are missing (lost
  // or evicted), and damage. Returns false to stop the replay early.
  std::function<bool()> go_on;
};

// The counts, damage and gaps that a replay found in a capture. The report is complete when the replay calls
// Visitor::OnEnd.
struct ReplayReport {
  std::uint64_t events = 0;                   // decoded events
  std::uint64_t lost_records = 0;             // missing records (gaps in the record indices)
  std::uint64_t repeated_records = 0;         // records that two runs of a thread contain (overlaps of record indices)
  std::uint64_t lost_chunks = 0;              // missing chunks (gaps in the chunk numbers)
  std::uint64_t late_events = 0;              // events visited after an event with a later tick
  std::uint64_t replaced_blocks = 0;          // blocks that ended with DeallocateCause::kReplaced
  std::uint64_t unmatched_deallocations = 0;  // deallocations whose allocation is lost, or older than the recording
  std::uint64_t keyframe_mismatches = 0;      // keyframes whose device totals differ from the replay's
  std::uint64_t statistics_mismatches = 0;    // allocator statistics that differ from the replay's totals
  std::vector<Damage> damage;  // damage that opening and replaying found, in the parts of replayed processes
  // The part of the report about one process.
  struct Process {
    bool replayed = false;  // false: the process does not have the requested rank, and all other fields are unset
    v1::Counters counters;  // the newest counters in the parts
    v1::End end;            // End::UNKNOWN: the recording did not end in an orderly way
    std::uint64_t duration_ns = 0;  // time from the start of the process to its last event
    // The newest reading of the realtime clock, in ns since 1970. The process was alive at that time, because its
    // writer reads the clock. 0: no reading.
    std::uint64_t last_clock_ns = 0;
    // The most allocated bytes of one device, and when they were reached.
    struct EvictedPeak {
      std::string device;  // as ToString(DeviceInfo) prints it: "cpu"
      std::uint64_t bytes = 0, ns = 0;
    };
    // A span in which the recording level was off or `memory`.
    struct Gap {
      v1::RecordingLevel level = v1::LEVEL_OFF;
      std::uint64_t begin_ns = 0;
      std::uint64_t end_ns = 0;
      bool ended = false;  // false: the gap lasts until the end of the recording
    };
    static constexpr std::size_t kMaxGaps = 1000;
    std::vector<Gap> gaps;        // in the order of time, at most kMaxGaps
    std::uint64_t gap_count = 0;  // number of gaps, including those beyond kMaxGaps
    RepeatedStepCounts repeated_steps;
    // Blocks that ended with DeallocateCause::kUnknown on devices without a caching allocator. The blocks of a caching
    // allocator do not count: it lists its live blocks when recording resumes, so it is known which were freed.
    std::uint64_t unknown_blocks = 0, unknown_bytes = 0;
    // A span whose events were evicted (--max-size), before or between the remaining parts.
    struct Span {
      std::uint64_t begin_ns = 0;
      std::uint64_t end_ns = 0;
    };
    std::vector<Span> evicted;               // in the order of time, at most kMaxGaps
    bool evicted_at_start = false;           // true: the first span of `evicted` begins at the start of the recording
    std::vector<EvictedPeak> evicted_peaks;  // peaks from the recording's start to the end of the last evicted span
    // A span in which the recorder could not see the events that `what` names.
    struct UnrecordedSpan {
      v1::Unrecorded::What what = v1::Unrecorded::UNKNOWN;
      std::uint64_t begin_ns = 0;
      std::uint64_t end_ns = 0;
      bool ended = false;  // false: the span lasts until the end of the recording
      std::string why;     // one line
    };
    std::vector<UnrecordedSpan> unrecorded;  // in the order of time
    // Returns the first span in which the memory of CUDA devices was not recorded. nullptr if there is no such span.
    const UnrecordedSpan* UnknownCudaMemory() const;
    // Returns such a span that lasts until the end of the recording. nullptr if there is no such span.
    const UnrecordedSpan* UnknownCudaMemoryAtEnd() const;
  };
  std::vector<Process> processes;  // by ProcessId
};

// Queries that a visitor may make during a replay. Blocks, bytes, memory and driver allocations belong to the current
// process, and include the effect of the current event. Exception: while a DeallocateEvent is visited, its block still
// is in the set of live blocks, and live_bytes includes it.
class ReplayState {
 public:
  virtual ~ReplayState() = default;
  virtual const Dictionary& dictionary() const = 0;
  // Returns the time since the start of the capture's earliest process, interpolated between readings of the clock.
  virtual std::uint64_t Nanoseconds(ProcessId process, Tick tick) const = 0;
  virtual void ForEachLiveBlock(const std::function<void(const Block&)>& function) const = 0;
  virtual std::uint64_t live_bytes(DeviceId device) const = 0;
  // Returns the live block that begins at `address`. nullptr if no block begins there. The pointer is valid during the
  // current event.
  virtual const Block* LiveBlockAt(DeviceId device, std::uint64_t address) const = 0;
  // Returns the thread whose open ranges surround the events of `thread`. If `thread` works in a parallel region of
  // another thread, this is the other thread, otherwise `thread` itself.
  virtual ThreadId working_thread(ThreadId thread) const = 0;
  // Returns the open ranges of working_thread(`thread`).
  virtual const RangeStack& stack(ThreadId thread) const = 0;
  virtual const DeviceMemory& memory(DeviceId device) const = 0;
  virtual const DriverMemory& driver() const = 0;
};

class DecodedChunks;

// A run of a capture folder: the processes of one use of the folder. A folder may have several runs.
struct RecordedRun {
  std::uint64_t start_ns = 0;  // nanoseconds since 1970
  std::size_t processes = 0;
};
inline constexpr std::uint32_t kLastRun = 0xffffffffu;
inline constexpr std::uint32_t kAllRuns = 0;  // all runs, as if they were one

class Capture {
 public:
  // Opens a capture. `path` is a capture folder, or a part file in such a folder. `run` is the number of a run of the
  // folder, from 1, or kLastRun or kAllRuns. Error messages contain the cause and the remedy. NotFound: the path or the
  // run does not exist. InvalidArgument: `path` is not a capture. Unimplemented: the capture has a newer format.
  static absl::StatusOr<Capture> Open(const std::string& path, std::uint32_t run = kLastRun);
  Capture(Capture&&) noexcept;
  Capture& operator=(Capture&&) noexcept;
  ~Capture();

  const std::string& path() const;
  const std::vector<ProcessSummary>& processes() const;  // in the order of rank, restart, start; index == ProcessId
  // Returns the runs of the folder, in the order of their start.
  const std::vector<RecordedRun>& runs() const;
  // Returns the number, from 1, of the run that the other functions describe. kAllRuns if they describe all runs.
  std::uint32_t run() const;
  const std::vector<Damage>& damage() const;  // damage that opening found
  std::uint64_t events() const;               // events of all processes, as counted in the chunk headers

  // Streams all events through `visitor`. Damage is not an error; the report lists it.
  absl::StatusOr<ReplayReport> Replay(Visitor& visitor, const ReplayOptions& options = {}) const;

  // While a SharedDecoding exists, decoded chunks are kept for later replays, up to a bound (parts/decoded_chunks.h).
  // Analyses that replay a capture several times use a SharedDecoding. The capture must outlive the SharedDecoding and
  // must not be moved.
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
