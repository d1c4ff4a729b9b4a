// The terminal while `memoir live` draws on it: another screen, keys one by one, and all as it was at the end, also
// when a signal ends the program.
#ifndef TOOLS_CLI_LIVE_LIVE_TERMINAL_H_
#define TOOLS_CLI_LIVE_LIVE_TERMINAL_H_

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace memoir {

// SIGINT, SIGTERM, SIGHUP and SIGWINCH become bytes in a pipe, so that a wait ends at once. One at a time.
class LiveSignals {
 public:
  LiveSignals();
  ~LiveSignals();
  LiveSignals(const LiveSignals&) = delete;
  LiveSignals& operator=(const LiveSignals&) = delete;

  // Waits for a key (of `keys`, a descriptor), for something to read from `other`, a signal, or until the time is over;
  // -1: no such descriptor. The key; nothing: none.
  std::optional<char> Wait(int keys, int other, int milliseconds);
  int ended_by() const;  // the signal that asked for the end; 0: none
  bool TakeResized();
};

class LiveTerminal {
 public:
  // `input`, `output`: both a terminal.
  LiveTerminal(int input, int output);
  ~LiveTerminal();  // restores it
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  std::size_t height() const;
  // Each line over what was there, in one write, so that nothing flickers.
  void Draw(const std::vector<std::string>& lines);
  void Clear() { drawn_.clear(); }  // the next Draw draws all

 private:
  void Write(const std::string& text) const;
  const int input_, output_;
  termios before_{};
  bool has_keys_ = false;
  std::vector<std::string> drawn_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_LIVE_TERMINAL_H_
