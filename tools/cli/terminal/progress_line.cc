#include "tools/cli/terminal/progress_line.h"

#include <cstdio>
#include <utility>

#include "fmt/format.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)),
      next_(std::chrono::steady_clock::now() + std::chrono::seconds(1)),
      interactive_(DetectTerminal(fileno(stderr)).interactive) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::Show(double done) {
  constexpr double kLeastFall = 0.5;  // one rank of several may fall back a little
  if (done < std::exchange(done_, done) - kLeastFall) ++pass_;
  const auto now = std::chrono::steady_clock::now();
  if (!interactive_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  shown_ = true;
  const std::string pass = pass_ > 1 ? fmt::format(", pass {}", pass_) : "";
  const std::string line = fmt::format("\r\x1b[Kmemoir: {} {:.0f}%{}", what_, done * 100, pass);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace memoir
