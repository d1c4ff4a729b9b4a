// Prints messages of the tracker: whole lines on standard error.
//
// A write that fails does not affect the program. If the reader of standard error has ended, or the file to which it is
// redirected has reached the size limit, a write raises SIGPIPE or SIGXFSZ, whose default action ends the process.
// Memoir blocks both signals during the write, and then discards the signals that the write raised.
#ifndef TRACKER_SESSION_PROCESS_TERMINAL_LINE_H_
#define TRACKER_SESSION_PROCESS_TERMINAL_LINE_H_

#include <signal.h>

namespace memoir {

// While this object exists, a write of this thread raises neither SIGPIPE nor SIGXFSZ. A signal that was pending before
// the object existed stays pending.
class WriteSignalBlocker {
 public:
  WriteSignalBlocker();
  ~WriteSignalBlocker();
  WriteSignalBlocker(const WriteSignalBlocker&) = delete;
  WriteSignalBlocker& operator=(const WriteSignalBlocker&) = delete;

 private:
  sigset_t held_, before_;
};

// Prints like printf, with "memoir: " before the text and a newline after it. Any thread.
[[gnu::format(printf, 1, 2)]] void PrintLine(const char* format, ...);

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_TERMINAL_LINE_H_
