// The pass of AnalyzeSummary: passes each event of a replay to a handler (summary_handlers.h), which counts the event.
// At the end, the pass makes the rows from the counts.
//
//     replay ──► window ──► SummaryPass ──► handlers ──► rows ──► Summary
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_

#include <utility>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/figures/summary_figures.h"
#include "tools/analyze/summary/pass/summary_handlers.h"
#include "tools/analyze/summary/summary_options.h"

namespace memoir {

class SummaryPass : public WindowedVisitor {
 public:
  // The arguments must outlive this object.
  SummaryPass(const Capture& capture, const Selection& selection, const Grouping& grouping)
      : WindowedVisitor(capture, selection), handlers_(*this, grouping) {}
  SummaryPass(const SummaryPass&) = delete;
  SummaryPass& operator=(const SummaryPass&) = delete;

  bool takes_repeats() const override { return true; }
  void OnKeyframe(const KeyframeEvent& event) override { handlers_.evicted.AddKeyframe(event); }
  void OnSwitch(const LevelChangeEvent& event) override;
  Summary TakeSummary() { return std::move(handlers_.shared.summary); }
  // Makes the pass stop at the first device with a caching allocator. If it stops, there is no summary.
  void StopAtCachingDevice() { stops_ = true; }
  bool stopped() const { return stops_ && handlers_.caching.has_device(); }

 protected:
  void SeeEnd(const ReplayReport& report) override;
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeWindowOpen(const Event& event) override;
  void SeeWindowClose(const Event& event) override;
  void SeeStepBegin(StepSource source, const Event&) override { handlers_.steps.BeginStep(source); }
  // Active bytes of a device include blocks that the selection omits by module or size.
  void SeeOtherAllocate(const AllocateEvent& event) override {
    handlers_.caching.NoteMemory(event, event.block->device);
  }
  bool knows_group() const override { return handlers_.repeats.knows_group(); }
#define MEMOIR_COUNTED(Name, EventType, recorded) \
  void See##Name(const EventType& event) override { handlers_.events.CountEvent(event, recorded); }
#define MEMOIR_HANDLED(Name, EventType, recorded, handler, Function) \
  void See##Name(const EventType& event) override {                  \
    handlers_.events.CountEvent(event, recorded);                    \
    handlers_.handler.Function(event);                               \
  }
#define MEMOIR_IGNORED(Name, EventType)
#include "tools/analyze/summary/summarized_events.def"

 private:
  void AddProcesses(const ReplayReport& report);

  SummaryHandlers handlers_;
  bool stops_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARY_PASS_H_
