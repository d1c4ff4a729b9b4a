// The pass behind AnalyzeOutOfMemory: what every error was, and what has to be asked of a second replay.
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
#include "tools/analyze/oom/input_growth.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/oom/out_of_memory_growth.h"
#include "tools/analyze/pass/loop_position.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {

class OutOfMemoryPass : public WindowedVisitor {
 public:
  OutOfMemoryPass(const Capture& capture, const Selection& selection, std::size_t most,
                  const BlockCategories& categories)
      : WindowedVisitor(capture, selection), most_(most), categories_(categories), lines_(selection.own) {}
  std::vector<OutOfMemory> TakeErrors() { return {errors_.begin(), errors_.end()}; }
  // As many as errors.
  std::vector<GrowthQuestion> TakeQuestions() { return {questions_.begin(), questions_.end()}; }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override {
    clock_ = {};
    inputs_.Clear();
    requests_.clear();
    last_step_.reset();
    readings_.clear();
    driver_is_recorded_ = false;
  }
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeRangeBegin(const RangeBeginEvent& event) override { clock_.RangeBegins(event); }
  void SeeRangeEnd(const RangeEndEvent& event) override {
    NoteStep(clock_.RangeEnds(event, state().dictionary().text(event.range->name)));
  }
  void SeeModuleEnter(const ModuleEvent& event) override { NoteStep(clock_.ModuleEnters(event)); }
  void SeeStep(const StepEvent& event) override {
    NoteStep(clock_.Stepped());
    last_step_ = event.step;
  }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override { inputs_.Freed(*event.block); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override;
  void SeeDriverRefused(const DriverRefusedEvent& event) override;
  void SeeDeviceReading(const DeviceReadingEvent& event) override {
    driver_is_recorded_ = true;
    readings_[event.device] = event;
  }

 private:
  // Of the operator call that last allocated on a device.
  struct Requests {
    std::uint64_t call = 0;
    std::uint32_t count = 0;
  };
  // Where in the program the newest refusal was.
  struct Asked {
    ThreadId thread;
    NameId library;
    std::uint64_t call = 0;  // OpenRange::call of the innermost range; 0: none
    std::uint64_t bytes = 0;
    bool operator==(const Asked&) const = default;
  };
  void NoteStep(std::optional<StepKind> kind) {
    if (kind) inputs_.StepBegins(*kind);
  }
  Asked WhereOf(const Event& event, const DriverBlock& block) const;
  // What all errors have, and who holds what.
  OutOfMemory ErrorAt(const Event& event, DeviceId device) const;
  void AddHolders(DeviceId device, OutOfMemory& error) const;
  void AddPinned(OutOfMemory& error) const;
  OutOfMemory ErrorOf(const OutOfMemoryEvent& event);
  OutOfMemory ErrorOf(const DriverRefusedEvent& event) const;
  // Of the outermost operator that runs on the thread; 0: none.
  std::uint64_t OperatorCall(ThreadId thread) const;
  GrowthQuestion QuestionOf(const Event& event, DeviceId device, std::uint64_t operator_call) const;
  void Add(OutOfMemory error, GrowthQuestion question);

  const std::size_t most_;
  const BlockCategories& categories_;
  SourceLines lines_;
  std::deque<OutOfMemory> errors_;
  std::deque<GrowthQuestion> questions_;
  LoopClock clock_;
  InputGrowth inputs_;
  std::map<DeviceId, Requests> requests_;
  std::optional<std::uint64_t> last_step_;
  std::map<DeviceId, DeviceReadingEvent> readings_;  // the newest
  bool driver_is_recorded_ = false;                  // in the process in hand
  std::optional<Asked> refused_;                     // the newest error, where it is a refusal
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_OOM_OUT_OF_MEMORY_PASS_H_
