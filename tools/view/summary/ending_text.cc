#include "tools/view/summary/ending_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "fmt/format.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/terminal/signal_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;
constexpr int kSignalInCode = 128;  // a shell's exit code after a signal is this plus the signal's number
constexpr int kLastSignal = 64;

bool IsException(const Ending& ending) { return ending.end.reason() == v1::End::EXITED; }

// Returns the first exception; without exceptions, the first other end. Exceptions come first, because the launcher
// kills the other ranks after one rank fails.
const Ending& FirstToFail(const std::vector<Ending>& endings) {
  return *std::ranges::min_element(endings, [](const Ending& a, const Ending& b) {
    return IsException(a) != IsException(b) ? IsException(a) : a.ns < b.ns;
  });
}

std::string ProgramOf(const Capture& capture, ProcessId process) {
  const std::string& program = capture.processes()[process.value].info.program();
  return program.empty() ? "the program" : Escaped(program);
}

// Returns the signal that killed a process. 0 if no signal killed it, or if the signal is unknown. If the command was a
// shell that started the process, the shell's exit code contains the signal.
std::uint32_t SignalOf(const Capture& capture, const Ending& ending, bool is_only_one, const CommandEnd& command) {
  if (ending.end.signal() != 0) return ending.end.signal();
  if (capture.processes()[ending.process.value].info.pid() == command.pid)
    return static_cast<std::uint32_t>(command.signal);
  const int in_code = command.exit_code - kSignalInCode;
  return is_only_one && in_code > 0 && in_code <= kLastSignal ? static_cast<std::uint32_t>(in_code) : 0;
}

std::string FailureText(const Ending& ending) {
  const std::string message = Escaped(ending.end.message());
  return (message.starts_with("KeyboardInterrupt") ? " was INTERRUPTED by Ctrl-C: " : " FAILED: ") + message;
}

std::string DeathText(const Capture& capture, const Ending& ending, bool is_only_one, const CommandEnd& command) {
  if (const std::uint32_t signal = SignalOf(capture, ending, is_only_one, command); signal != 0)
    return " was KILLED by " + SignalText(signal);
  const bool is_command = capture.processes()[ending.process.value].info.pid() == command.pid;
  if (is_command) return fmt::format(" left without stopping (os._exit or exec), exit code {}", command.exit_code);
  return std::string(" ") + kEndedWithoutStopping;
}

// Returns "; in step 7, aten::linear of layers.3.mlp, at net.py:12 Net.forward".
std::string PlaceText(const Ending& ending) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "; in " : ", ") + more; };
  if (ending.step) add(fmt::format("step {}", *ending.step));
  if (!ending.operator_name.empty()) {
    const std::string module = ending.module.empty() ? "" : " of " + Shortened(Escaped(ending.module), kNameInLine);
    add(Shortened(Escaped(ending.operator_name), kNameInLine) + module);
  }
  if (!ending.line.known()) return text;
  return text + (text.empty() ? "; at " : ", at ") + ShownLine(ending.line, kNameInLine);
}

// Describes how the command ended, for programs whose recording ended normally. Empty if the exit code is 0.
std::string CodeText(const Capture& capture, const CommandEnd& command) {
  if (command.exit_code == 0 && command.signal == 0) return "";
  const std::string program = ProgramOf(capture, capture.processes().front().id);
  if (command.signal != 0) return program + " was KILLED by " + SignalText(static_cast<std::uint32_t>(command.signal));
  return program + (command.interrupts > 0 ? " was INTERRUPTED by Ctrl-C: it ended" : " ended") +
         fmt::format(" with exit code {}", command.exit_code);
}

std::string EndingText(const Capture& capture, const std::vector<Ending>& endings, const CommandEnd& command) {
  std::vector<Ending> bad;
  for (const Ending& ending : endings) {
    if (!IsIdle(capture, ending.process)) bad.push_back(ending);
  }
  if (bad.empty()) return CodeText(capture, command);
  const Ending& first = FirstToFail(bad);
  const bool alone = DescribeJob(capture).processes <= 1;
  std::string text = (alone ? "" : ProcessLabel(capture, first.process) + " of ") + ProgramOf(capture, first.process);
  text += IsException(first) ? FailureText(first) : DeathText(capture, first, bad.size() == 1, command);
  text += PlaceText(first);
  if (bad.size() == 1) return text;
  return text + "; " + FormatCounted(bad.size() - 1, "other process", "other processes") + " failed or died, too";
}

}  // namespace

std::string EndingLine(const Capture& capture, const std::vector<Ending>& endings, const CommandEnd& command,
                       const Terminal& terminal) {
  const std::string text = EndingText(capture, endings, command);
  return text.empty() ? "" : Painted(terminal, Color::kRed, Wrapped(text, terminal.width, 2)) + "\n";
}

}  // namespace memoir
