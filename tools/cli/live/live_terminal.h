// Controls the terminal while `memoir live` draws on it. Switches to the alternate screen and reads single keys. At the
// end restores the terminal, even if a signal ends the program.
#ifndef TOOLS_CLI_LIVE_LIVE_TERMINAL_H_
#define TOOLS_CLI_LIVE_LIVE_TERMINAL_H_

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace memoir {

// Turns SIGINT, SIGTERM, SIGHUP and SIGWINCH into bytes in a pipe, so that they end a wait at once. Only one object may
// exist at a time.
class LiveSignals {
 public:
  LiveSignals();
  ~LiveSignals();
  LiveSignals(const LiveSignals&) = delete;
  LiveSignals& operator=(const LiveSignals&) = delete;

  // Waits for a key on the descriptor `keys`, data on the descriptor `other`, or a signal, for at most `milliseconds`.
  // A descriptor of -1 is ignored. Returns the key, or nullopt.
  std::optional<char> Wait(int keys, int other, int milliseconds);
  int ended_by() const;  // the signal that requested the end; 0: no signal
  bool TakeResized();
};

class LiveTerminal {
 public:
  // `input` and `output` must both be terminals.
  LiveTerminal(int input, int output);
  ~LiveTerminal();  // restores the terminal
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  std::size_t height() const;
  // Draws the lines over the previous lines, with a single write, so that the screen does not flicker.
  void Draw(const std::vector<std::string>& lines);
  void Clear() { drawn_.clear(); }  // the next Draw() draws everything

 private:
  void Write(const std::string& text) const;
  const int input_, output_;
  termios before_{};
  bool has_keys_ = false;
  std::vector<std::string> drawn_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_LIVE_TERMINAL_H_
