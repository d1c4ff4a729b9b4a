// A line on standard error that says how far a long reading is: only on a terminal, only after a second, and gone at
// the end.
#ifndef TOOLS_CLI_TERMINAL_PROGRESS_H_
#define TOOLS_CLI_TERMINAL_PROGRESS_H_

#include <chrono>
#include <functional>
#include <string>

namespace memoir {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

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

#endif  // TOOLS_CLI_TERMINAL_PROGRESS_H_
