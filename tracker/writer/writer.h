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
#include <memory>
#include <string>

#include "tracker/writer/process_facts.h"
#include "tracker/writer/writer_options.h"

namespace memoir {

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

  // When it returns, the state of all that was committed before the call is on file as a capture of its own; other
  // threads go on. "" or one line that says what is wrong and what to do. Not on the writer's thread.
  std::string Snapshot(const SnapshotWish& wish);

  WriterStatus Status() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_H_
