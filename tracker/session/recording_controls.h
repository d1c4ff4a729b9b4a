// Everything that switches a running recording: calls, a signal, a file, windows of steps or ranges.
//
//     memoir.pause/resume ─┐
//     signal, file ────────┼─► wanted level ─┐
//     steps, ranges ───────┼─► window ───────┼─► the least of them ─► RecordingSwitch
//     allocations, modules ┴─► detail ───────┘
//
// Steps that the file asks for are recorded in full whatever these say, except that a pause within them holds. Outside
// of a window memory alone is recorded, so that a window begins with the live set that it needs; likewise in steps that
// are known (tracker/detail/known_steps.h). One object a recording, which stays until the next one begins. Any thread;
// Look is the writer's.
#ifndef TRACKER_SESSION_RECORDING_CONTROLS_H_
#define TRACKER_SESSION_RECORDING_CONTROLS_H_

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tracker/detail/full_budget.h"
#include "tracker/session/control_file.h"
#include "tracker/session/published.h"
#include "tracker/session/recording_switch.h"
#include "tracker/session/windows.h"

namespace memoir {

enum class Detail : std::uint8_t {
  kFull,
  kAuto,    // operators only in steps that are not known
  kBlocks,  // no operators
};

struct ControlOptions {
  RecordingLevel start = RecordingLevel::kAll;
  std::optional<int> toggle_signal;
  std::optional<int> snapshot_signal;
  std::string control_file;
  WindowOptions windows;
  Detail detail = Detail::kFull;
  FullBudget::Limits budget;                   // with Detail::kAuto
  bool speaks = true;                          // of a job's processes, this one says what concerns all of them
  std::uint32_t world_size = 0;                // 0: unknown
  std::uint64_t patience_ns = 10'000'000'000;  // until a line says that steps which were asked for do not begin
};

class RecordingControls {
 public:
  // Where the signal cannot be had, a line in `warning`; all else works. Lives until the next Begin.
  static RecordingControls* Begin(const ControlOptions& options, std::string* warning);
  // Recording is off for good, and the signal does what it did before.
  void End();
  // Recording is off for good, but nobody has asked for that: the signal still does the program no harm. End comes
  // later. For the writer's thread: neither allocates, waits nor calls torch.
  void GiveUp() noexcept;

  // What `work` says of this process's; RecordingControls that are gone are freed when nobody is in here with them.
  // `otherwise` before its first recording. A forked child has none.
  template <class Work, class Result>
  static Result WithCurrent(const Work& work, Result otherwise) {
    const Published<RecordingControls>::Visit visit(current_);
    RecordingControls* controls = visit.get();
    return controls != nullptr && controls->owner_ == getpid() ? work(*controls) : otherwise;
  }

  // A recording that is switched off is one still.
  bool recording() const { return switch_.active() && (level() == RecordingLevel::kOff || RecordingEnabled()); }
  RecordingLevel level() const { return switch_.level(); }

  // pause and resume. False when nothing is recorded any more.
  bool Want(RecordingLevel level);
  // memoir.step(): switches, and records the step where anything is recorded.
  void Step(std::uint64_t step);
  // Whether ranges are recorded since this one.
  bool RangeBegins(const void* range, const char* name);
  void RangeEnds(const void* range, const char* name);
  // With Detail::kAuto, or where steps are asked for: a call of a module with none around it, which may begin a step.
  void ModuleBegins(std::uint64_t module);
  // With Detail::kAuto: the step in hand is not as those before. In the allocation that shows it.
  void Deviates() noexcept;
  // Signals and file.
  void Look();
  // Whether one of them has asked for a snapshot since the last call: by what. The writer's thread, as Look.
  std::optional<const char*> TakeSnapshotAsked() { return std::exchange(snapshot_asked_, std::nullopt); }
  // The rank became known: as in ControlOptions.
  void SetJob(bool speaks, std::uint32_t world_size);

 private:
  explicit RecordingControls(const ControlOptions& options);
  RecordingLevel Desired() const;
  void Apply(const std::optional<Windows::Mark>& mark);
  void ApplyMark(const std::optional<Windows::Mark>& mark);
  void RecordMarked(const Windows::Mark& mark);
  void FollowStep();
  void SetWanted(RecordingLevel level);
  void LookAtDetail(std::uint64_t now_ns);
  void LookAtAsked(std::uint64_t now_ns);
  void AskForSteps(std::uint64_t steps);
  void Obey(const Control& control);
  void Toggle();

  static Published<RecordingControls> current_;

  const pid_t owner_ = getpid();
  const ControlOptions options_;
  RecordingSwitch switch_;
  std::atomic<RecordingLevel> wanted_;
  std::atomic<RecordingLevel> detail_;  // at most
  std::atomic<bool> spent_{false};      // `budget_`: no operators now, whatever `detail_` is
  FullBudget budget_;                   // the writer's thread, with the next two: that too much is new
  bool said_full_ = false;
  bool said_spent_ = false;
  std::atomic<bool> speaks_;
  std::atomic<std::uint64_t> between_looks_ns_;
  ControlFile file_;                           // the writer's thread
  std::uint64_t next_look_ns_ = 0;             // likewise
  std::optional<const char*> snapshot_asked_;  // likewise
  Windows windows_;
  bool follows_steps_;          // whatever begins them: the writer's thread, once it has begun
  std::uint64_t asked_ns_ = 0;  // the writer's thread: when steps were asked for; 0: nothing more is said of them
  std::atomic<bool> called_in_asked_{false};  // for a level, since they began
  std::atomic<std::uint64_t> parts_{0};       // that had begun at the newest step
};

}  // namespace memoir

#endif  // TRACKER_SESSION_RECORDING_CONTROLS_H_
