// The options of a writer, and its status.
#ifndef TRACKER_WRITER_WRITER_OPTIONS_H_
#define TRACKER_WRITER_WRITER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracker/writer/file/process_facts.h"

namespace memoir {

inline constexpr std::uint64_t kDefaultPartBytes = 1ull << 30;
inline constexpr std::uint64_t kDefaultRetryNs = 1'000'000'000;
inline constexpr std::uint64_t kDefaultPatienceNs = 30'000'000'000;

// A requested snapshot (snapshot_writer.h).
struct RequestedSnapshot {
  std::string folder;            // made, with its parents, if it does not exist
  std::string why;               // cause: "program", "signal", "oom", ...
  bool of_newest_event = false;  // the snapshot has the tick of the newest written event, not the current tick
};

// Functions that the writer calls for snapshots for which no thread waits. They are called on the files thread, while
// the writer's thread waits.
struct SnapshotHooks {
  // Returns the snapshots that the writer must write now. Called each time the writer reads the ring.
  std::function<std::vector<RequestedSnapshot>()> due;
  // Returns the snapshot to write at an out-of-memory error; nullopt: no snapshot. Called when the writer has written
  // the error's event, and before it adds later events to a chunk.
  std::function<std::optional<RequestedSnapshot>()> at_out_of_memory;
  // Called after each of these snapshots. `wrong`: one line with the error; "" if the snapshot is written.
  std::function<void(const RequestedSnapshot& wish, const std::string& wrong)> made;
};

// The options of Writer::Start.
struct WriterOptions {
  std::string folder;  // folder of the capture; made, with its parents, if it does not exist
  std::string stem;    // beginning of the names of parts: "r00000.a0.host.pid"
  ProcessFacts process;
  std::uint64_t max_bytes = 0;                     // limit for all parts of this process together; 0: no limit
  std::uint64_t part_bytes = kDefaultPartBytes;    // at most a fifth of max_bytes
  bool keep_empty = true;                          // false: no file remains if all events are host samples
  std::uint64_t retry_ns = kDefaultRetryNs;        // time between a failed write and the next try
  std::uint64_t patience_ns = kDefaultPatienceNs;  // longest wait for a writer that makes no progress
  // before_read and on_failure are called on the writer's thread, with the program's table of descriptors. before_read
  // is called each time before the writer reads the ring (every 10 to 100 ms); on_failure is called once, if the writer
  // fails. They must not wait for a thread that waits for room in the ring, because only the writer makes room.
  std::function<void()> before_read;
  // Called on the files thread. Returns true if a reader follows the capture while the capture grows. If so, or if no
  // function is set, new events are written each second. Otherwise they are written every four seconds, in fewer and
  // larger chunks. This saves space, because each chunk with pattern rows also contains a list of addresses.
  std::function<bool()> is_followed;
  std::function<void()> on_failure;
  SnapshotHooks snapshots;
};

// Values of End.Reason in the capture.
enum class EndReason : std::uint8_t { kStopped = 1, kExited = 2, kMerged = 3, kFailed = 4 };

// Numbers of written and lost events, chunks and bytes since Start.
struct WriterStatus {
  std::string part;               // path of the open part
  std::uint64_t events = 0;       // events in chunks that were written
  std::uint64_t bytes = 0;        // written bytes, including the bytes of removed parts
  std::uint64_t lost_events = 0;  // events in chunks that were not written, or in parts that another program removed
  std::uint64_t lost_chunks = 0;
  std::string last_write_error;     // "" without an error
  int last_write_errno = 0;         // errno of last_write_error; 0: no system error
  std::uint64_t folded_events = 0;  // events in parts that were evicted under max_bytes
  std::uint64_t folded_parts = 0;
  std::uint64_t untracked_blocks = 0;  // allocations that keyframes lack, because the table of live blocks was full
};

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_OPTIONS_H_
