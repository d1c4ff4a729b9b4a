// Writes events as JSON lines (docs/json.md), one object for each event, in bounded memory.
#ifndef TOOLS_VIEW_EVENTS_EVENT_JSON_H_
#define TOOLS_VIEW_EVENTS_EVENT_JSON_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/model/capture.h"
#include "tools/model/event.h"

namespace memoir {

// Pass it to StreamEvents. `write` gets whole lines, some thousand at a time. Call Flush at the end.
class EventJsonWriter : public Visitor {
 public:
  EventJsonWriter(const Capture& capture, std::function<void(std::string_view)> write)
      : capture_(capture), write_(std::move(write)) {}
  void Flush();

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnProcessBegin(const ProcessEvent& event) override;
  void OnProcessEnd(const ProcessEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnDeallocate(const DeallocateEvent& event) override;
  void OnFreeCompleted(const FreeCompletedEvent& event) override;
  void OnSegment(const SegmentEvent& event) override;
  void OnOutOfMemory(const OutOfMemoryEvent& event) override;
  void OnDeviceStatistics(const DeviceStatisticsEvent& event) override;
  void OnDriverAllocate(const DriverAllocateEvent& event) override;
  void OnDriverFree(const DriverFreeEvent& event) override;
  void OnDriverRefused(const DriverRefusedEvent& event) override;
  void OnDeviceSample(const DeviceSampleEvent& event) override;
  void OnHostReading(const HostReadingEvent& event) override;
  void OnDeviceCall(const DeviceCallEvent& event) override;
  void OnKernelRun(const KernelRunEvent& event) override;
  void OnFirstSeen(const FirstSeenEvent& event) override;
  void OnMark(const MarkEvent& event) override;
  void OnStep(const StepEvent& event) override;
  void OnSwitch(const SwitchEvent& event) override;
  void OnModuleEnter(const ModuleEvent& event) override { AddModuleEvent("module_enter", event); }
  void OnStack(const StackEvent& event) override;
  void OnCallBegin(const CallEvent& event) override;
  void OnCallEnd(const CallEvent& event) override;
  void OnHolds(const HoldsEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override { AddModuleEvent("module_exit", event); }
  void OnLost(const LostEvent& event) override;
  void OnKeyframe(const KeyframeEvent& event) override;

 private:
  // Begins a line with the fields that all events have.
  void Begin(std::string_view kind, const Event& event);
  void End();
  void AddText(std::string_view key, std::string_view text);
  void AddName(std::string_view key, NameId name);
  // Adds the phase, and the module if there is one.
  void AddModule(ModuleId module, Phase phase);
  void AddModuleEvent(std::string_view kind, const ModuleEvent& event);
  void AddWritten(SchemaId schema);
  void AddNumber(std::string_view key, std::uint64_t number);
  void AddAddress(std::string_view key, std::uint64_t address);
  void AddBlock(const Block& block);
  void AddPlace(const Block& block);
  void AddContext(const Block& block);
  void AddDriverBlock(const DriverBlock& block);
  void AddKnown(std::string_view key, const std::optional<std::uint64_t>& number);  // null: unknown
  void AddLaunch(const DeviceCallEvent& event);
  void AddSignature(SignatureId signature);
  void AddTensor(const Tensor& tensor);
  void AddTensors(absl::Span<const Tensor> tensors);
  void AddNames(absl::Span<const NameId> names);
  const std::string& QuotedName(NameId name);
  const std::string& QuotedLayout(LayoutId layout);
  const std::string& QuotedCode(CodeId code);
  void AddFrames(StackId stack);

  const Capture& capture_;
  std::function<void(std::string_view)> write_;
  const ReplayState* state_ = nullptr;
  std::string lines_;
  std::vector<std::string> names_;    // by id, as JSON, so that a name is escaped once and not at every event
  std::vector<std::string> modules_;  // by id: ,"module":...
  std::vector<std::string> layouts_;  // by id: ,"dtype":...
  std::vector<std::string> codes_;    // by id: "file":...,"function":...
  absl::flat_hash_set<StackId> stacks_shown_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_EVENTS_EVENT_JSON_H_
