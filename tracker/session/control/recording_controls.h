// Determines the level of a running recording from calls, a signal, a file, windows of steps or ranges, and the detail.
//
//     memoir.pause/resume ─┐
//     signal, file ────────┼─► wanted level ─┐
//     steps, ranges ───────┼─► window ───────┼─► the lowest level of these ─► RecordingSwitch
//     allocations, modules ┴─► detail ───────┘
//
// Steps that the control file requests are recorded with all operators, unless the recording is paused meanwhile.
// Outside of a window, and in repeated steps (repeated_steps.h), the level is `memory`, so that live blocks stay known.
// Each recording has one object, which exists until the next one begins. Any thread, unless a comment names one.
#ifndef TRACKER_SESSION_CONTROL_RECORDING_CONTROLS_H_
#define TRACKER_SESSION_CONTROL_RECORDING_CONTROLS_H_

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "interpose/system/signal_blocker.h"
#include "tracker/repeated_steps/operator_budget.h"
#include "tracker/session/control/control_file.h"
#include "tracker/session/control/control_signals.h"
#include "tracker/session/control/published_object.h"
#include "tracker/session/control/recording_switch.h"
#include "tracker/session/control/recording_windows.h"

namespace memoir {

enum class Detail : std::uint8_t {
  kFull,
  kAuto,    // operators are recorded only in steps that do not repeat
  kBlocks,  // operators are not recorded
};

struct ControlOptions {
  RecordingLevel start = RecordingLevel::kAll;
  std::optional<int> toggle_signal;
  std::optional<int> snapshot_signal;
  std::string control_file;
  WindowOptions windows;
  Detail detail = Detail::kFull;
  OperatorBudget::Limits budget;               // for Detail::kAuto
  bool is_reporting = true;                    // true in the job's reporting process
  std::uint32_t world_size = 0;                // 0: unknown
  std::uint64_t patience_ns = 10'000'000'000;  // if no requested step begins within this time, a message reports it
};

class RecordingControls {
 public:
  // Makes the controls of a recording. If a signal cannot be used, sets `warning` to one line; other controls work.
  static RecordingControls* Begin(const ControlOptions& options, std::string* warning);
  // Ends recording for good, and restores the signals. Leave does the same at the end of the process, and never waits.
  void End();
  void Leave() noexcept { GiveUp(), RemoveControlSignals(); }
  // Ends recording for good after an error. The signal handlers stay, because without a handler a signal would end the
  // program. A later call of End removes them. For the writer's thread: does not allocate, wait or call torch.
  void GiveUp() noexcept;

  // Returns the result of `work`, called with this process's controls; `otherwise` if there are no controls. Controls
  // that Begin has replaced are freed when no thread uses them. WithCurrent blocks signals during `work`, so `work` may
  // take locks. Read does not block signals.
  template <class Work, class Result>
  static Result WithCurrent(const Work& work, Result otherwise) {
    const SignalBlocker held;
    return Read(work, otherwise);
  }
  template <class Work, class Result>
  static Result Read(const Work& work, Result otherwise) {
    const PublishedObject<RecordingControls>::Visit visit(current_);
    RecordingControls* controls = visit.get();
    return controls != nullptr && controls->owner_ == getpid() ? work(*controls) : otherwise;
  }

  // True until the recording ends, also while it is switched off.
  bool recording() const { return switch_.active() && (level() == RecordingLevel::kOff || RecordingEnabled()); }
  RecordingLevel level() const { return switch_.level(); }

  // Sets the level, for pause and resume. False if the recording has ended, or the ring has no room.
  bool RequestLevel(RecordingLevel level);
  // Implements memoir.step(): switches the level if necessary, and records the step.
  void Step(std::uint64_t step);
  // Call it when a user range begins. Returns true if the recording of ranges starts with this range.
  bool BeginRange(const void* range, const char* name);
  void EndRange(const void* range, const char* name);
  // Call it when an outermost module call begins. The call may begin a step (Detail::kAuto, requested steps).
  void NoteModuleCall(std::uint64_t module);
  // Call it when the current step deviates from its reference step, inside of the allocation that differs.
  void NoteDeviation() noexcept;
  // Acts on signals and on the control file. The writer's thread calls it regularly.
  void Look();
  // Returns "signal" or "control file" if it requested a snapshot since the last call; else nullopt. Writer's thread.
  std::optional<const char*> TakeSnapshotRequest() { return std::exchange(snapshot_request_, std::nullopt); }
  // Call it when the rank becomes known. The arguments have the same meaning as in ControlOptions.
  void SetJob(bool is_reporting, std::uint32_t world_size);

 private:
  explicit RecordingControls(const ControlOptions& options);
  RecordingLevel DesiredLevel() const;
  void Apply(const std::optional<RecordingWindows::StepMark>& mark);
  void ApplyMark(const std::optional<RecordingWindows::StepMark>& mark);
  void RecordStepMark(const RecordingWindows::StepMark& mark);
  void FollowStep();
  void SetWanted(RecordingLevel level);
  void CheckDetail(std::uint64_t now_ns);
  void CheckRequestedSteps(std::uint64_t now_ns);
  void RequestSteps(std::uint64_t steps);
  void Obey(const ControlRequest& control);
  void Toggle();

  static PublishedObject<RecordingControls> current_;

  const pid_t owner_ = getpid();
  const ControlOptions options_;
  RecordingSwitch switch_;
  std::atomic<RecordingLevel> wanted_;  // set by calls, the signal and the file
  std::atomic<RecordingLevel> detail_;  // upper bound of the level, from the detail and repeated steps
  std::atomic<bool> spent_{false};      // `budget_` is spent: operators are not recorded, even if `detail_` allows it
  OperatorBudget budget_;               // used only by the writer's thread, like the next two members
  bool printed_full_ = false, printed_spent_ = false;
  std::atomic<bool> is_reporting_;
  std::atomic<std::uint64_t> between_looks_ns_;
  ControlFile file_;  // used only by the writer's thread, like the next two members
  std::uint64_t next_look_ns_ = 0;
  std::optional<const char*> snapshot_request_;
  RecordingWindows windows_;
  bool follows_steps_;              // true if begins of steps are watched; only the writer's thread changes this member
  std::uint64_t requested_ns_ = 0;  // time of the newest request for steps; for the writer's thread; 0: no check is due
  std::atomic<bool> called_in_request_{false};  // `wanted_` was set since the requested steps began
  std::atomic<std::uint64_t> parts_{0};         // number of parts when the newest step began
};

}  // namespace memoir

#endif  // TRACKER_SESSION_CONTROL_RECORDING_CONTROLS_H_
