// The ends of processes that did not end properly, and where each process was at its end: the step, the operator and
// the line.
#ifndef TOOLS_ANALYZE_SUMMARY_ENDINGS_H_
#define TOOLS_ANALYZE_SUMMARY_ENDINGS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/figures/ending.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns true if an uncaught exception ended the process, or if the process ended without reporting its end: by a
// signal, os._exit or exec.
bool IsBadEnd(const v1::End& end);

// Returns the bad ends of the selected processes, in the order of the processes. Needs one replay.
Task<absl::StatusOr<std::vector<Ending>>> AnalyzeEndings(JointReplays& replays, Selection selection);

// The pass of AnalyzeEndings. Needs a replay with modules.
class EndingPass : public WindowedVisitor {
 public:
  EndingPass(const Capture& capture, const Selection& selection)
      : WindowedVisitor(capture, selection), own_(selection.own), lines_(selection.own) {}
  bool takes_repeats() const override { return true; }
  void OnCut(const CutEvent& event) override;
  std::vector<Ending> Take() { return std::move(endings_); }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override { running_ = failed_ = {}; }
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeEnd(const ReplayReport& report) override;

 private:
  using Steps = std::array<std::optional<std::uint64_t>, kStepSources>;
  // A call of an outermost operator.
  struct Call {
    NameId operator_name;  // invalid: no call
    ModuleId module;
    SourceLine line;
    Steps steps;
    bool is_newest = false;  // for a failed call: no other call has begun since
  };
  // The state of a process before its End is read.
  struct LastCalls {
    ProcessId process;
    std::uint64_t ns = 0;
    StepSource source = StepSource::kNone;
    Steps steps;
    Call running, failed;
  };
  Steps StepsNow() const;
  Call CallOf(const OpenRange& range);
  bool LacksResults(const RangeEndEvent& event) const;
  // Returns the innermost line of the user's own code in the traceback. If there is no such line, the innermost line.
  SourceLine RaisedAt(const v1::End& end) const;
  Ending EndingOf(const LastCalls& last, const v1::End& end) const;

  OwnCode own_;
  SourceLines lines_;
  Call running_;  // the call that was running at the newest CutEvent
  Call failed_;   // the newest call that ended with an exception
  std::vector<LastCalls> last_;
  std::vector<Ending> endings_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_ENDINGS_H_
