// The writer of one process: takes committed records out of the ring, packs them, and appends them to the capture's
// part files.
//
//     ring ──► pack (columns, dictionaries, live table) ──► zstd ──► part file  one thread does it all, "memoir-writer"
//       ▲                                                             │
//       └───────────── segments go back only after the write ◄────────┘
//
// Not the ring's owner: whoever starts a recording calls RingOpen first and RingClose after Stop. Not usable after fork
// in the child: a child must neither call nor destroy the parent's Writer (leak it). One Writer per process at a time.
//
// Threads: Start and Stop belong to the thread that starts and stops recording; SetProcess, Flush and Status may be
// called from any thread. A failure to write never throws and never ends the program: it is counted and shown by Status
// and in the capture.
#ifndef TRACKER_WRITER_WRITER_H_
#define TRACKER_WRITER_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tracker/writer/process_facts.h"

namespace memoir {

inline constexpr std::uint64_t kDefaultPartBytes = 1ull << 30;
inline constexpr std::uint64_t kDefaultRetryNs = 1'000'000'000;

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
  std::function<void()> on_failure;
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

class Writer {
 public:
  // Needs an open ring. Makes the folder and the first part, hands the encoded ProcessInfo to the ring, and starts the
  // thread (all signals blocked). On failure nullptr and one line (cause and fix) in `error`.
  static std::unique_ptr<Writer> Start(const WriterOptions& options, std::string* error);

  // Stops with kStopped when Stop was not called.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // What has become known of the process since (its rank): is on file within a moment, and at once in the ring, from
  // where a death takes it. The files keep their names.
  void SetProcess(const ProcessFacts& process);

  // Drains the ring, writes the last chunk with `reason` and the index, closes the part, joins the thread. Call it
  // after the enable flag is off. A second call does nothing.
  void Stop(EndReason reason, const std::string& message);

  // When it returns, everything that was committed before the call is on file or counted as lost.
  void Flush();

  WriterStatus Status() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_H_
