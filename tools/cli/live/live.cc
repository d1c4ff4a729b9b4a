// memoir live: shows a recording while it is being written: on a terminal, as lines of text or JSON, or for Prometheus.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/live/follow_mark.h"
#include "tools/cli/live/followed_figures.h"
#include "tools/cli/live/live_keys.h"
#include "tools/cli/live/live_output.h"
#include "tools/cli/live/live_terminal.h"
#include "tools/cli/live/recording_choice.h"
#include "tools/cli/live/recording_wait.h"
#include "tools/cli/live/snapshot_request.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {
namespace {

using std::chrono::steady_clock;

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "live",
    .usage = "live [OPTIONS] [DIR|FILE|PID] [snapshot]",
    .description =
        "Watch a recording while it is being written: what runs, what is allocated and reserved, what is at a step's "
        "peak, whether memory grows and when it runs out. Without a name: the newest of yours that runs on this host. "
        "It reads the capture's files as they grow and does not disturb the program. On a terminal keys act; elsewhere "
        "it prints a line each interval. With the word snapshot it requests a snapshot and prints its path "
        "(docs/live.md).",
    .examples =
        "  memoir live run1\n"
        "  memoir live --json --interval 10 run1\n",
};

struct LiveArguments {
  std::string what, action;
  double interval = 1;
  double cpu = 2;
  std::optional<std::uint32_t> top;
  std::string prometheus;
  bool json = false, once = false;
};

void AddOptions(CLI::App& app, LiveArguments& arguments) {
  app.add_option("RECORDING", arguments.what,
                 "folder of the capture, one of its files, or the number of a process that records [the newest of "
                 "yours that runs]");
  app.add_option("ACTION", arguments.action, "snapshot: request a snapshot, print its path, and end");
  app.add_option("--interval", arguments.interval, "seconds between two readings, at least 0.1 [1]");
  app.add_flag("--once", arguments.once, "read once, then end");
  app.add_flag("--json", arguments.json, "one line of JSON for each reading (docs/live.md)");
  app.add_option("--prometheus", arguments.prometheus,
                 "a FILE that is replaced with each reading, for node_exporter's textfile collector; or a PORT of "
                 "127.0.0.1 that serves the metrics");
  app.add_option("--cpu", arguments.cpu,
                 "percent of one core that reading may take; if that is too little, operators are read only part of "
                 "the time [2]");
  AddNumber(app, "--top", arguments.top, "processes in a list of several [8; all in --json]");
}

// In `memoir live snapshot`, the word is the action, unless a file has this name. If the word is the action, the newest
// recording is followed.
void TakeAction(LiveArguments& arguments) {
  std::error_code error;
  if (arguments.what == "snapshot" && arguments.action.empty() && !std::filesystem::exists("snapshot", error))
    arguments.action = std::exchange(arguments.what, "");
}

std::string Complaint(const LiveArguments& arguments) {
  if (!arguments.action.empty() && arguments.action != "snapshot")
    return "'" + arguments.action + "' is no action of live; the only one is snapshot";
  if (!(arguments.interval >= 0.1 && arguments.interval <= 86400))
    return fmt::format("--interval {}: expected seconds, from 0.1 to 86400", arguments.interval);
  if (!(arguments.cpu > 0)) return fmt::format("--cpu {}: expected percent of one core, such as 2", arguments.cpu);
  return "";
}

int TakeSnapshot(const FollowedFigures& followed, const LiveSignals& signals) {
  const LiveFigures& figures = followed.figures();
  if (!IsAnyRunning(figures))
    return Fail(absl::FailedPreconditionError(figures.folder +
                                              ": its recording has ended, so that there is nothing to "
                                              "take a snapshot of; " +
                                              PrintedCommand("show " + TypedPath(figures.folder)) +
                                              " shows what was recorded"));
  const std::string control = ControlFileOf(figures);
  const SnapshotRequest request(figures.folder);
  if (const absl::Status asked = WriteControl(control, "snapshot"); !asked.ok()) return Fail(asked);
  while (request.age() < kSnapshotPatience && signals.ended_by() == 0) {
    if (const auto folder = request.Find()) return WriteOutput(*folder + "\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Fail(absl::DeadlineExceededError(NoSnapshotCame(control)));
}

// Returns true for requests that need a recording now: a single reading (--once), or a snapshot.
bool WantsItNow(const LiveArguments& arguments) { return arguments.once || !arguments.action.empty(); }

int CannotFollow(const absl::Status& status, const LiveSignals& signals) {
  if (signals.ended_by() == 0) return Fail(status);
  return signals.ended_by() == SIGINT && isatty(STDIN_FILENO) == 1 ? kExitFine : 128 + signals.ended_by();
}

// Repeatedly reads the recording, shows it, and waits.
class Watch {
 public:
  Watch(FollowedFigures& followed, FollowedFile& mark, LiveSignals& signals, LiveOutput& output,
        const LiveArguments& arguments)
      : followed_(followed), mark_(mark), signals_(signals), output_(output), arguments_(arguments) {}

  int Run(bool on_terminal) {
    if (on_terminal) terminal_.emplace(STDIN_FILENO, STDOUT_FILENO);
    int code = kExitFine;
    auto next = steady_clock::now();
    for (int over = 0; code == kExitFine && !quit_ && signals_.ended_by() == 0;) {
      next = std::max(next + Interval(), steady_clock::now());
      followed_.Update([this] { return signals_.ended_by() == 0; });
      if (IsAnyRunning(followed_.figures())) mark_.Touch();
      keys_.CheckRequests(followed_.figures());
      code = Show();
      // Reads once more after the end, because the newest events of a killed process may be merged only after its end.
      over = followed_.is_over() ? over + 1 : 0;
      if (over == 2 || arguments_.once) break;
      WaitUntil(next);
    }
    terminal_.reset();
    if (code != kExitFine) return code;
    if (on_terminal && !quit_ && signals_.ended_by() == 0) return output_.WriteScreen(followed_.figures());
    return signals_.ended_by() == 0 || (on_terminal && signals_.ended_by() == SIGINT) ? kExitFine
                                                                                      : 128 + signals_.ended_by();
  }

 private:
  steady_clock::duration Interval() const {
    return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(arguments_.interval));
  }
  int Show() {
    if (const absl::Status status = output_.WritePrometheus(followed_.figures()); !status.ok()) return Fail(status);
    if (!terminal_) return output_.Write(followed_.figures());
    Draw();
    return kExitFine;
  }
  void Draw() {
    if (signals_.TakeResized()) terminal_->Clear();
    terminal_->Draw(
        output_.Screen(followed_.figures(), terminal_->height(), keys_.Line(followed_.figures()), keys_.message()));
  }
  void WaitUntil(steady_clock::time_point next) {
    while (!quit_ && signals_.ended_by() == 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - steady_clock::now()).count();
      if (left <= 0) return;
      // Touches the file of the FollowedFile up to five seconds before the next read, because the writer looks at this
      // file only when it examines the ring.
      if (left <= 5000 && IsAnyRunning(followed_.figures())) mark_.Touch();
      const auto key =
          signals_.Wait(terminal_ ? STDIN_FILENO : -1, output_.server(), static_cast<int>(std::min<long>(left, 250)));
      output_.Answer();
      if (!terminal_) continue;
      if (key == 'q' || key == 'Q') quit_ = true;
      if (key) keys_.Press(*key, followed_.figures());
      keys_.CheckRequests(followed_.figures());
      Draw();
    }
  }

  FollowedFigures& followed_;
  FollowedFile& mark_;
  LiveSignals& signals_;
  LiveOutput& output_;
  const LiveArguments& arguments_;
  LiveKeys keys_;
  std::optional<LiveTerminal> terminal_;
  bool quit_ = false;
};

int Live(const LiveArguments& arguments) {
  LiveSignals signals;
  const bool now = WantsItNow(arguments);
  RecordingWait wait(signals, now ? std::optional(std::chrono::seconds(5)) : std::nullopt);
  const auto find = [&] { return FolderToFollow(arguments.what); };
  const auto folder = now ? find() : wait.Await(std::chrono::seconds(1), find);
  if (!folder.ok()) return CannotFollow(folder.status(), signals);
  FollowedFile mark(*folder);
  const auto open = [&] { return FollowedFigures::Open(*folder, arguments.cpu / 100); };
  const auto followed = wait.Await(std::chrono::milliseconds(200), open);
  if (!followed.ok()) return CannotFollow(followed.status(), signals);
  if (arguments.action == "snapshot") {
    (*followed)->Update([&] { return signals.ended_by() == 0; });
    return TakeSnapshot(**followed, signals);
  }
  LiveOutput output({arguments.json, arguments.once, arguments.top.value_or(8), arguments.prometheus});
  if (const absl::Status status = output.Start(); !status.ok()) return Fail(status);
  const bool terminal = DetectTerminal(STDOUT_FILENO).interactive && isatty(STDIN_FILENO) == 1;
  return Watch(**followed, mark, signals, output, arguments).Run(terminal && !arguments.json && !arguments.once);
}

}  // namespace

int LiveVerb(const std::vector<std::string>& arguments) {
  LiveArguments asked;
  const auto app = MakeArguments(kHelp);
  AddOptions(*app, asked);
  if (const auto code = ParseArguments(*app, "live", arguments)) return *code;
  TakeAction(asked);
  if (const std::string complaint = Complaint(asked); !complaint.empty()) return FailUsage("live", complaint);
  return Live(asked);
}

}  // namespace memoir
