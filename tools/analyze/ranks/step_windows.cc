#include "tools/analyze/ranks/step_windows.h"

#include <algorithm>

namespace memoir {

void StepLevels::Raise(const StepLevels& other) {
  allocated = std::max(allocated, other.allocated);
  active = std::max(active, other.active);
  reserved = std::max(reserved, other.reserved);
  used = std::max(used, other.used);
}

void StepWindows::Begin(std::uint64_t step, const StepLevels& now) {
  step_ = step;
  current().Raise(now);
  while (windows_.size() > kMostWindows) {
    windows_ = Widened(windows_, steps_, 2 * steps_);
    steps_ *= 2;
  }
}

void StepWindows::Restart(std::uint64_t step) {
  StepLevels before;
  for (const auto& [window, levels] : windows_) before.Raise(levels);
  windows_.clear();
  steps_ = 1;
  step_ = step;
  current() = before;
}

void StepWindowsPass::OnProcessBegin(const ProcessEvent& event) {
  steps_ = {};
  source_ = StepSource::kNone;
  own_.clear();
  if (event.process.value >= processes_.size()) processes_.resize(event.process.value + 1);
}

void StepWindowsPass::OnProcessEnd(const ProcessEvent& event) {
  Process& process = processes_[event.process.value];
  process.source = source_;
  process.steps = source_ == StepSource::kNone ? 0 : steps_.begun(source_);
  for (const DeviceId id : own_) process.devices[ToString(state_->dictionary().device(id))] = id;
}

StepWindowsPass::Device& StepWindowsPass::Of(DeviceId id) {
  if (id.value >= devices_.size()) devices_.resize(id.value + 1);
  Device& device = devices_[id.value];
  if (device.known) return device;
  device.known = true;
  own_.push_back(id);
  if (source_ != StepSource::kNone) device.windows.Begin(steps_.newest(source_), {});
  return device;
}

void StepWindowsPass::Note(DeviceId id) {
  Device& device = Of(id);
  const DeviceMemory& memory = state_->memory(id);
  device.now.allocated = state_->live_bytes(id);
  if (memory.caching() && !memory.is_being_found()) {
    device.now.active = memory.active().all;
    device.now.reserved = memory.reserved().all;
  }
  device.windows.Note(device.now);
}

void StepWindowsPass::OnDeviceReading(const DeviceReadingEvent& event) {
  if (!event.total_bytes || !event.free_bytes) return;
  Device& device = Of(event.device);
  device.now.used = *event.total_bytes - std::min(*event.total_bytes, *event.free_bytes);
  device.most_used = std::max(device.most_used, device.now.used);
  device.windows.Note(device.now);
  device.now.used = 0;  // a sample is of its instant alone
}

void StepWindowsPass::OnOutOfMemory(const OutOfMemoryEvent& event) {
  const Block& asked = *event.asked;
  const Dictionary& dictionary = state_->dictionary();
  std::vector<v1::RefusedSummary>& refused = processes_[event.process.value].refused;
  if (refused.size() == kMostRefused) refused.erase(refused.begin());
  v1::RefusedSummary& error = refused.emplace_back();
  error.set_device(ToString(dictionary.device(asked.device)));
  error.set_ns(state_->Nanoseconds(event.process, event.tick));
  error.set_asked_bytes(asked.bytes);
  error.set_step_known(source_ != StepSource::kNone);
  if (error.step_known()) error.set_step(steps_.newest(source_));
  if (asked.operator_name.valid()) error.set_operator_name(std::string(dictionary.text(asked.operator_name)));
  if (asked.line_callstack().valid()) error.set_place(ToString(lines_.Of(asked.line_callstack(), dictionary)));
  if (asked.module.valid()) error.set_module(dictionary.module(asked.module).place());
}

void StepWindowsPass::Stepped(StepSource source) {
  if (source == StepSource::kNone || source < source_) return;
  const std::uint64_t newest = steps_.newest(source);
  if (source > source_) {
    source_ = source;
    // The first call of an optimizer ends step 0; any other source says where its first step begins.
    const std::uint64_t first = source == StepSource::kOptimizer && newest > 0 ? newest - 1 : newest;
    for (const DeviceId id : own_) devices_[id.value].windows.Restart(first);
  }
  for (const DeviceId id : own_) devices_[id.value].windows.Begin(newest, devices_[id.value].now);
}

}  // namespace memoir
