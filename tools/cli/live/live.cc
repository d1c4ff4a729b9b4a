// memoir live: a recording while it is being written, as a picture of the terminal, as lines, for scripts and for
// Prometheus.
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
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/live/follow_mark.h"
#include "tools/cli/live/followed_picture.h"
#include "tools/cli/live/live_keys.h"
#include "tools/cli/live/live_output.h"
#include "tools/cli/live/live_terminal.h"
#include "tools/cli/live/recording_choice.h"
#include "tools/cli/live/snapshot_request.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {
namespace {

using std::chrono::steady_clock;

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): before main, with no memory the program is at its end
const VerbHelp kHelp = {
    .verb = "live",
    .usage = "live [OPTIONS] [DIR|FILE|PID] [snapshot]",
    .description =
        "Watch a recording while it is being written: what runs, what is allocated and reserved, what is at a step's "
        "peak, whether memory grows and when it runs out. Without a name: the newest of yours that runs on this host. "
        "It reads the capture's files as they grow; the program knows nothing of it. On a terminal keys act; elsewhere "
        "it prints a line each interval. With the word snapshot it asks for one and says where it is (docs/live.md).",
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
  app.add_option("ACTION", arguments.action, "snapshot: ask for a snapshot, say where it is, and end");
  app.add_option("--interval", arguments.interval, "seconds from one look to the next, from 0.1 on [1]");
  app.add_flag("--once", arguments.once, "one look, then end");
  app.add_flag("--json", arguments.json, "one line of JSON for each look (docs/live.md)");
  app.add_option("--prometheus", arguments.prometheus,
                 "a FILE that is replaced with each look, for node_exporter's textfile collector; or a PORT, on which "
                 "127.0.0.1 is answered");
  app.add_option("--cpu", arguments.cpu,
                 "percent of one core that reading may take; with less, what runs is read for a part of the time [2]");
  AddNumber(app, "--top", arguments.top, "processes in a list of several [8; all in --json]");
}

// `memoir live snapshot` is of the newest recording.
void TakeAction(LiveArguments& arguments) {
  std::error_code error;
  if (arguments.what == "snapshot" && arguments.action.empty() && !std::filesystem::exists("snapshot", error))
    arguments.action = std::exchange(arguments.what, "");
}

std::string Complaint(const LiveArguments& arguments) {
  if (!arguments.action.empty() && arguments.action != "snapshot")
    return "'" + arguments.action + "' is nothing that live does; it knows snapshot";
  if (!(arguments.interval >= 0.1 && arguments.interval <= 86400))
    return fmt::format("--interval {}: expected seconds, from 0.1 to 86400", arguments.interval);
  if (!(arguments.cpu > 0)) return fmt::format("--cpu {}: expected percent of one core, such as 2", arguments.cpu);
  return "";
}

int TakeSnapshot(const FollowedPicture& followed, const LiveSignals& signals) {
  const LivePicture& picture = followed.picture();
  if (!RunsOn(picture))
    return Fail(absl::FailedPreconditionError(picture.folder +
                                              ": its recording has ended, so that there is nothing to "
                                              "take a snapshot of; memoir show " +
                                              picture.folder + " shows what was recorded"));
  const std::string control = ControlFileOf(picture);
  const SnapshotRequest request(picture.folder);
  if (const absl::Status asked = WriteControl(control, "snapshot"); !asked.ok()) return Fail(asked);
  while (request.age() < kSnapshotPatience && signals.ended_by() == 0) {
    if (const auto folder = request.Find()) return WriteOutput(*folder + "\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return Fail(absl::DeadlineExceededError(NoSnapshotCame(control)));
}

// A recording that is just beginning has a folder, and no whole chunk yet.
absl::StatusOr<std::unique_ptr<FollowedPicture>> OpenSoon(const std::string& folder, const LiveArguments& arguments,
                                                          const LiveSignals& signals) {
  constexpr auto kPatience = std::chrono::seconds(5);
  const auto begin = steady_clock::now();
  for (;;) {
    absl::StatusOr<std::unique_ptr<FollowedPicture>> opened = FollowedPicture::Open(folder, arguments.cpu / 100);
    const bool may_come = absl::IsNotFound(opened.status()) || absl::IsDataLoss(opened.status());
    if (opened.ok() || !may_come || signals.ended_by() != 0 || steady_clock::now() - begin > kPatience) return opened;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

// One who watches: looks, shows, waits.
class Watch {
 public:
  Watch(FollowedPicture& followed, FollowMark& mark, LiveSignals& signals, LiveOutput& output,
        const LiveArguments& arguments)
      : followed_(followed), mark_(mark), signals_(signals), output_(output), arguments_(arguments) {}

  int Run(bool on_terminal) {
    if (on_terminal) terminal_.emplace(STDIN_FILENO, STDOUT_FILENO);
    int code = kExitFine;
    auto next = steady_clock::now();
    for (int over = 0; code == kExitFine && !quit_ && signals_.ended_by() == 0;) {
      next = std::max(next + Interval(), steady_clock::now());
      followed_.Look([this] { return signals_.ended_by() == 0; });
      if (RunsOn(followed_.picture())) mark_.Touch();
      keys_.Look(followed_.picture());
      code = Show();
      // A process that was killed may have its newest events merged by now.
      over = followed_.is_over() ? over + 1 : 0;
      if (over == 2 || arguments_.once) break;
      WaitUntil(next);
    }
    terminal_.reset();
    if (code != kExitFine) return code;
    if (on_terminal && !quit_ && signals_.ended_by() == 0) return output_.WriteScreen(followed_.picture());
    return signals_.ended_by() == 0 || (on_terminal && signals_.ended_by() == SIGINT) ? kExitFine
                                                                                      : 128 + signals_.ended_by();
  }

 private:
  steady_clock::duration Interval() const {
    return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(arguments_.interval));
  }
  int Show() {
    if (const absl::Status status = output_.WritePrometheus(followed_.picture()); !status.ok()) return Fail(status);
    if (!terminal_) return output_.Write(followed_.picture());
    Draw();
    return kExitFine;
  }
  void Draw() {
    if (signals_.TakeResized()) terminal_->Clear();
    terminal_->Draw(
        output_.Screen(followed_.picture(), terminal_->height(), keys_.Line(followed_.picture()), keys_.message()));
  }
  void WaitUntil(steady_clock::time_point next) {
    while (!quit_ && signals_.ended_by() == 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - steady_clock::now()).count();
      if (left <= 0) return;
      // So much earlier a new chunk is wanted: the recorder looks for the mark with each of its own looks.
      if (left <= 5000 && RunsOn(followed_.picture())) mark_.Touch();
      const auto key =
          signals_.Wait(terminal_ ? STDIN_FILENO : -1, output_.server(), static_cast<int>(std::min<long>(left, 250)));
      output_.Answer();
      if (!terminal_) continue;
      if (key == 'q' || key == 'Q') quit_ = true;
      if (key) keys_.Press(*key, followed_.picture());
      keys_.Look(followed_.picture());
      Draw();
    }
  }

  FollowedPicture& followed_;
  FollowMark& mark_;
  LiveSignals& signals_;
  LiveOutput& output_;
  const LiveArguments& arguments_;
  LiveKeys keys_;
  std::optional<LiveTerminal> terminal_;
  bool quit_ = false;
};

int Live(const LiveArguments& arguments) {
  absl::StatusOr<std::string> folder = FolderToFollow(arguments.what);
  if (!folder.ok()) return Fail(folder.status());
  LiveSignals signals;
  FollowMark mark(*folder);
  const auto followed = OpenSoon(*folder, arguments, signals);
  if (!followed.ok()) return Fail(followed.status());
  if (arguments.action == "snapshot") {
    (*followed)->Look([&] { return signals.ended_by() == 0; });
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
