// What the recorder says to the person at the terminal: whole lines on standard error.
//
// Nothing that is wrong there reaches the program. Where the other end is gone, or the file is at its limit, a write
// raises SIGPIPE or SIGXFSZ, whose own action is to end the process; here they are held back and taken away again.
#ifndef TRACKER_SESSION_TERMINAL_LINE_H_
#define TRACKER_SESSION_TERMINAL_LINE_H_

#include <signal.h>

namespace memoir {

// While it lives, a write of this thread raises neither. One that was pending before stays so.
class WriteSignalsHeld {
 public:
  WriteSignalsHeld();
  ~WriteSignalsHeld();
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;
  WriteSignalsHeld& operator=(const WriteSignalsHeld&) = delete;

 private:
  sigset_t held_, before_;
};

// printf's, with "memoir: " before and a newline after it. Any thread.
[[gnu::format(printf, 1, 2)]] void SayLine(const char* format, ...);

}  // namespace memoir

#endif  // TRACKER_SESSION_TERMINAL_LINE_H_
