// The pass of AnalyzeOutOfMemory: finds every error, and for each error a question that a second replay answers
// (GrowthQuestion).
#ifndef TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_PASS_H_
#define TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_PASS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/oom/fitting_input.h"
#include "tools/analyze/oom/input_followers.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/oom/out_of_memory_growth.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

class OutOfMemoryPass : public WindowedVisitor {
 public:
  OutOfMemoryPass(const Capture& capture, const Selection& selection, std::size_t most,
                  const BlockCategories& categories)
      : WindowedVisitor(capture, selection), most_(most), categories_(categories), lines_(selection.own) {}
  std::vector<OutOfMemory> TakeErrors() { return {errors_.begin(), errors_.end()}; }
  // One question for each error.
  std::vector<GrowthQuestion> TakeQuestions() { return {questions_.begin(), questions_.end()}; }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override {
    clock_ = {};
    inputs_.Clear();
    followers_.Clear();
    requests_.clear();
    last_step_.reset();
    readings_.clear();
    driver_is_recorded_ = false;
  }
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override { clock_.SeeRangeBegin(event); }
  void SeeRangeEnd(const RangeEndEvent& event) override {
    NoteStep(clock_.SeeRangeEnd(event, state().dictionary().text(event.range->name)));
  }
  void SeeModuleEnter(const ModuleEvent& event) override { NoteStep(clock_.SeeModuleEnter(event)); }
  void SeeStep(const StepEvent& event) override {
    NoteStep(clock_.SeeStep());
    last_step_ = event.step;
  }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override { inputs_.NoteFree(*event.block); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override;
  void SeeDriverRefused(const DriverRefusedEvent& event) override;
  void SeeDeviceSample(const DeviceSampleEvent& event) override {
    driver_is_recorded_ = true;
    readings_[event.device] = event;
  }

 private:
  // The operator call that last allocated on a device, and the number of its allocations there.
  struct Requests {
    std::uint64_t call = 0;
    std::uint32_t count = 0;
  };
  // A request to the driver: its place in the program, and its bytes.
  struct DriverRequest {
    ThreadId thread;
    NameId library;
    std::uint64_t call = 0;  // OpenRange::call of the innermost range; 0: no range
    std::uint64_t bytes = 0;
    bool operator==(const DriverRequest&) const = default;
  };
  void NoteStep(std::optional<StepKind> kind) {
    if (kind) inputs_.SeeStepBegin(*kind);
  }
  DriverRequest DriverRequestOf(const Event& event, const DriverBlock& block) const;
  std::uint64_t OpenOptimizerSteps() const;
  // Returns an error with the facts that all kinds of errors have, and with the owners of memory.
  OutOfMemory ErrorAt(const Event& event, DeviceId device);
  void AddHolders(DeviceId device, OutOfMemory& error);
  void AddPinned(OutOfMemory& error) const;
  OutOfMemory ErrorOf(const OutOfMemoryEvent& event);
  OutOfMemory ErrorOf(const DriverRefusedEvent& event);
  // Returns the call of the outermost operator that runs on the thread. 0 if no operator runs.
  std::uint64_t OperatorCall(ThreadId thread) const;
  GrowthQuestion QuestionOf(const Event& event, DeviceId device, std::uint64_t operator_call) const;
  void Add(OutOfMemory error, GrowthQuestion question);

  const std::size_t most_;
  const BlockCategories& categories_;
  SourceLines lines_;
  std::deque<OutOfMemory> errors_;
  std::deque<GrowthQuestion> questions_;
  LoopClock clock_;
  FittingInputFinder inputs_;
  InputFollowers followers_;
  std::map<DeviceId, Requests> requests_;
  std::optional<std::uint64_t> last_step_;
  std::map<DeviceId, DeviceSampleEvent> readings_;  // newest sample of each device
  bool driver_is_recorded_ = false;                 // the current process has events of the driver or device samples
  // The request of the newest error; nullopt if this error is an OutOfMemoryEvent.
  std::optional<DriverRequest> refused_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_PASS_H_
