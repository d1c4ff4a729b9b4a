// A line on standard error that shows the progress of a long analysis: "memoir: reading run1 43%, pass 2". It appears
// only on a terminal, after a second, and disappears at the end.
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

  // `done`: 0..1. A value that is smaller by more than a half begins another pass over the same files.
  void Show(double done);
  std::function<void(double)> callback() {
    return [this](double done) { Show(done); };
  }

 private:
  std::string what_;
  std::chrono::steady_clock::time_point next_;
  bool interactive_;
  bool shown_ = false;
  double done_ = 0;
  int pass_ = 1;
};

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_PROGRESS_LINE_H_
