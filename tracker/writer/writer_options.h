// What a writer is told when it starts, and what it says of itself.
#ifndef TRACKER_WRITER_WRITER_OPTIONS_H_
#define TRACKER_WRITER_WRITER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracker/writer/process_facts.h"

namespace memoir {

inline constexpr std::uint64_t kDefaultPartBytes = 1ull << 30;
inline constexpr std::uint64_t kDefaultRetryNs = 1'000'000'000;

// A snapshot (snapshot_writer.h) that somebody wants.
struct SnapshotWish {
  std::string folder;            // made, with its parents, when it is missing
  std::string why;               // who asked for it: "program", "signal", "oom", ...
  bool of_newest_event = false;  // of the state at that event, not of now
};

// Snapshots that the recording makes without a thread that waits for them. On the writer's thread, as on_look.
struct SnapshotHooks {
  std::function<std::vector<SnapshotWish>()> due;                 // with each look
  std::function<std::optional<SnapshotWish>()> at_out_of_memory;  // of the state at the error, before memory is freed
  std::function<void(const SnapshotWish& wish, const std::string& wrong)> made;  // `wrong`: "" or one line
};

struct WriterOptions {
  std::string folder;  // of the capture; made, with its parents, when it is missing
  std::string stem;    // "r00000.a0.host.pid": what part names start with
  ProcessFacts process;
  std::uint64_t max_bytes = 0;                   // all parts of this process together; 0: no cap
  std::uint64_t part_bytes = kDefaultPartBytes;  // less where max_bytes asks for it (a fifth of it)
  bool keep_empty = true;                        // false: a recording without any event leaves no file
  std::uint64_t retry_ns = kDefaultRetryNs;      // after a failed write another part is tried so much later
  // On the writer's thread: with each of its looks at the ring (every 10 to 100 ms), and once when it gives up. May not
  // wait for anybody who waits for room in the ring.
  std::function<void()> on_look;
  // Likewise: whether somebody reads the capture as it grows. Then, and without it, what has come is written each
  // second, else every four: where steps are named most of a chunk are the addresses that it begins with.
  std::function<bool()> is_followed;
  std::function<void()> on_failure;
  SnapshotHooks snapshots;
};

// As End.Reason of the capture.
enum class EndReason : std::uint8_t { kStopped = 1, kExited = 2, kMerged = 3, kFailed = 4 };

// What is on file, and what could not get there. All since Start.
struct WriterStatus {
  std::string part;               // path of the part written now
  std::uint64_t events = 0;       // packed into chunks that are on file
  std::uint64_t bytes = 0;        // written, removed parts included
  std::uint64_t lost_events = 0;  // packed, then not written
  std::uint64_t lost_chunks = 0;
  std::string last_write_error;     // "" while all is well
  int last_write_errno = 0;         // its cause, where it is one of the system's
  std::uint64_t folded_events = 0;  // in parts removed by max_bytes
  std::uint64_t folded_parts = 0;
  std::uint64_t untracked_blocks = 0;  // allocations that keyframes leave out because the live table was full
};

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_OPTIONS_H_
