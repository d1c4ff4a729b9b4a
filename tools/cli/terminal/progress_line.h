// A line on standard error that shows the progress of a long analysis. It appears only on a terminal, after a second,
// and disappears at the end.
#ifndef TOOLS_CLI_TERMINAL_PROGRESS_LINE_H_
#define TOOLS_CLI_TERMINAL_PROGRESS_LINE_H_

#include <chrono>
#include <functional>
#include <string>

namespace memoir {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(double done);  // 0..1
  std::function<void(double)> callback() {
    return [this](double done) { Show(done); };
  }

 private:
  std::string what_;
  std::chrono::steady_clock::time_point next_;
  bool interactive_;
  bool shown_ = false;
};

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_PROGRESS_LINE_H_
