// The writer of one process. Reads records from the ring, packs them, and appends them to the parts of the capture. The
// writer's thread, "memoir-writer", waits until there are records. It then waits while the files thread, "memoir-files"
// (interpose/system/own_files.h), does the work of this diagram, because only the files thread has the files open:
//
//     ring ──► pack (columns, dictionaries, live table) ──► zstd ──► part file
//       ▲                                                             │
//       └────────────── ring extents are freed after the write ◄──────┘
//
// Does not own the ring: call RingOpen before Start, and RingClose after Stop. A forked child must not use or destroy
// the parent's Writer. One Writer per process at a time. Start and Stop: on the thread that starts and stops the
// recording. SetProcess, Flush and Status: any thread. A failed write does not throw: Status and the capture count it.
#ifndef TRACKER_WRITER_WRITER_H_
#define TRACKER_WRITER_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tracker/writer/file/process_facts.h"
#include "tracker/writer/writer_options.h"

namespace memoir {

class Writer {
 public:
  // Makes the folder and the first part, stores the ProcessInfo in the ring, which must be open, and starts the thread
  // (all signals blocked). On failure returns nullptr, and sets *error to one line with the cause and the remedy.
  static std::unique_ptr<Writer> Start(const WriterOptions& options, std::string* error);

  // Calls Stop with kStopped, if Stop was not called.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Updates the facts about the process, such as its rank. The facts are stored in the ring at once, in case the
  // process dies, and in the capture soon after. The files keep their names, even if the rank in the names has changed.
  void SetProcess(const ProcessFacts& process);

  // Writes all records of the ring, then the last chunk with `reason` and `message` (end_message.h), and the index.
  // Closes the part, and joins the thread. Call it after recording is switched off. A second call does nothing. Returns
  // false if the thread hangs and is not joined; then the ring must stay open.
  bool Stop(EndReason reason, const std::string& message);

  // Waits until all records committed before the call are on disk or counted as lost, unless the writer's thread hangs.
  void Flush();

  // Writes the state of memory, with all records committed before the call, as a separate capture. Returns "" or one
  // line with the error and the remedy. Other threads continue. Must not be called on the writer's thread.
  std::string WriteSnapshot(const RequestedSnapshot& wish);

  WriterStatus Status() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_H_
