#include "tools/cli/live/live_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace memoir {
namespace {

constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l\x1b[2J";  // switches to the alternate screen, hides the cursor, clears
constexpr char kLeave[] = "\x1b[?25h\x1b[?1049l";
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};

// Global, because the signal handler has no argument.
constinit std::atomic<int> ended_by_signal{0};
constinit std::atomic<bool> resized{false};
constinit int wake_pipe[2] = {-1, -1};

void OnSignal(int signal) {
  const int kept = errno;
  if (signal == SIGWINCH) {
    resized = true;
  } else {
    ended_by_signal = signal;
  }
  [[maybe_unused]] const ssize_t written = write(wake_pipe[1], "", 1);
  errno = kept;
}

}  // namespace

LiveSignals::LiveSignals() {
  if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) wake_pipe[0] = wake_pipe[1] = -1;
  struct sigaction action{};
  action.sa_handler = OnSignal;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

LiveSignals::~LiveSignals() {
  for (const int number : kSignals) signal(number, SIG_DFL);
  for (int& end : wake_pipe) {
    if (end >= 0) close(end);
    end = -1;
  }
}

int LiveSignals::ended_by() const { return ended_by_signal; }
bool LiveSignals::TakeResized() { return resized.exchange(false); }

std::optional<char> LiveSignals::Wait(int keys, int other, int milliseconds) {
  // poll() ignores negative descriptors.
  pollfd waits[3] = {{wake_pipe[0], POLLIN, 0}, {keys, POLLIN, 0}, {other, POLLIN, 0}};
  if (poll(waits, 3, milliseconds) <= 0) return std::nullopt;
  char bytes[64];
  while (read(wake_pipe[0], bytes, sizeof bytes) > 0) {
  }
  if ((waits[1].revents & (POLLIN | POLLHUP)) == 0) return std::nullopt;
  // A closed terminal returns the end of file at each read, so the end of file ends the program.
  const ssize_t got = read(keys, bytes, 1);
  if (got == 0) ended_by_signal = SIGHUP;
  return got == 1 ? std::optional(bytes[0]) : std::nullopt;
}

LiveTerminal::LiveTerminal(int input, int output) : input_(input), output_(output) {
  has_keys_ = tcgetattr(input_, &before_) == 0;
  if (has_keys_) {
    termios own = before_;
    own.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    own.c_cc[VMIN] = 0;
    own.c_cc[VTIME] = 0;
    tcsetattr(input_, TCSANOW, &own);
  }
  Write(kEnter);
}

LiveTerminal::~LiveTerminal() {
  Write(kLeave);
  if (has_keys_) tcsetattr(input_, TCSAFLUSH, &before_);
}

std::size_t LiveTerminal::height() const {
  winsize size{};
  return ioctl(output_, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

void LiveTerminal::Write(const std::string& text) const {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(output_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

void LiveTerminal::Draw(const std::vector<std::string>& lines) {
  std::string text = drawn_.empty() ? "\x1b[2J" : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < drawn_.size() && drawn_[i] == lines[i]) continue;
    text += "\x1b[" + std::to_string(i + 1) + ";1H" + lines[i] + "\x1b[K";
  }
  if (lines.size() < drawn_.size()) text += "\x1b[" + std::to_string(lines.size() + 1) + ";1H\x1b[J";
  Write(text);
  drawn_ = lines;
}

}  // namespace memoir
