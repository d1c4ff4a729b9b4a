#include "tools/analyze/ranks/job/step_maxima.h"

#include <algorithm>

namespace memoir {

void StepLevels::Raise(const StepLevels& other) {
  allocated = std::max(allocated, other.allocated);
  active = std::max(active, other.active);
  reserved = std::max(reserved, other.reserved);
  used = std::max(used, other.used);
  buckets = std::max(buckets, other.buckets);
  without_buckets = std::max(without_buckets, other.without_buckets);
  at_begin = std::max(at_begin, other.at_begin);
}

void StepMaxima::Begin(std::uint64_t step, const StepLevels& now) {
  step_ = step;
  current().Raise(now);
  current().at_begin = std::max(current().at_begin, now.without_buckets);
  while (windows_.size() > kMostWindows) {
    windows_ = Widened(windows_, steps_, 2 * steps_);
    steps_ *= 2;
  }
}

void StepMaxima::Restart(std::uint64_t step) {
  StepLevels before;
  for (const auto& [window, levels] : windows_) before.Raise(levels);
  windows_.clear();
  steps_ = 1;
  step_ = step;
  current() = before;
}

StepMaximaPass::StepMaximaPass(const BlockCategories& categories) : categories_(categories) {
  for (std::size_t i = 0; i < Rules().size(); ++i) is_bucket_[i] = IsBucketOfRanks(Rules()[i]);
}

void StepMaximaPass::OnProcessBegin(const ProcessEvent& event) {
  steps_ = {};
  source_ = StepSource::kNone;
  own_.clear();
  if (event.process.value >= processes_.size()) processes_.resize(event.process.value + 1);
}

void StepMaximaPass::OnProcessEnd(const ProcessEvent& event) {
  Process& process = processes_[event.process.value];
  process.source = source_;
  process.steps = source_ == StepSource::kNone ? 0 : steps_.begun(source_);
  for (const DeviceId id : own_) process.devices[ToString(state_->dictionary().device(id))] = id;
}

StepMaximaPass::Device& StepMaximaPass::DeviceOf(DeviceId id) {
  if (id.value >= devices_.size()) devices_.resize(id.value + 1);
  Device& device = devices_[id.value];
  if (device.known) return device;
  device.known = true;
  own_.push_back(id);
  if (source_ != StepSource::kNone) device.windows.Begin(steps_.newest(source_), {});
  return device;
}

void StepMaximaPass::Note(DeviceId id) {
  Device& device = DeviceOf(id);
  const DeviceMemory& memory = state_->memory(id);
  device.now.allocated = state_->live_bytes(id);
  device.now.without_buckets = device.now.allocated - std::min(device.now.allocated, device.now.buckets);
  if (memory.caching() && !memory.is_being_found()) {
    device.now.active = memory.active().all;
    device.now.reserved = memory.reserved().all;
  }
  device.windows.Note(device.now);
  device.most.Raise(device.now);
}

void StepMaximaPass::OnRangeBegin(const RangeBeginEvent& event) {
  if (event.range->source != RangeSource::kUser) return;
  Stepped(steps_.SeeRangeBegin(event, state_->dictionary()));
  if (event.range->role.optimizer &&
      state_->dictionary().text(event.range->name).starts_with("Optimizer.step#ZeroRedundancyOptimizer."))
    processes_[event.process.value].shards_optimizer = true;
}

void StepMaximaPass::OnDeviceSample(const DeviceSampleEvent& event) {
  if (!event.total_bytes || !event.free_bytes) return;
  Device& device = DeviceOf(event.device);
  device.now.used = *event.total_bytes - std::min(*event.total_bytes, *event.free_bytes);
  device.windows.Note(device.now);
  device.now.used = 0;  // a sample describes only its instant
}

void StepMaximaPass::OnOutOfMemory(const OutOfMemoryEvent& event) {
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
  if (asked.line_callstack().valid()) error.set_place(ToString(lines_.LineOf(asked.line_callstack(), dictionary)));
  if (asked.module.valid()) error.set_module(dictionary.module(asked.module).display_path());
}

void StepMaximaPass::Stepped(StepSource source) {
  if (source == StepSource::kNone || source < source_) return;
  const std::uint64_t newest = steps_.newest(source);
  if (source > source_) {
    source_ = source;
    // The first call of an optimizer ends step 0. An event of any other source begins the first step of that source.
    const std::uint64_t first = source == StepSource::kOptimizer && newest > 0 ? newest - 1 : newest;
    for (const DeviceId id : own_) devices_[id.value].windows.Restart(first);
  }
  for (const DeviceId id : own_) devices_[id.value].windows.Begin(newest, devices_[id.value].now);
}

}  // namespace memoir
