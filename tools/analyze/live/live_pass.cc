#include "tools/analyze/live/live_pass.h"

#include <algorithm>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/layer_pattern.h"
#include "tools/model/full_steps_note.h"

namespace memoir {
namespace {

constexpr std::size_t kMostStepTicks = 64;
constexpr std::size_t kMostOutOfMemory = 4;
constexpr char kNoModule[] = "(outside of modules)";

double TicksPerSecond(const v1::ProcessInfo& info) {
  return info.ticks_per_second() == 0 ? 1e9 : static_cast<double>(info.ticks_per_second());
}

std::vector<LiveShare> Sorted(const std::map<std::string, std::uint64_t>& sums) {
  std::vector<LiveShare> rows;
  for (const auto& [name, bytes] : sums) {
    if (bytes > 0) rows.push_back({name, bytes});
  }
  std::ranges::stable_sort(rows, std::greater(), &LiveShare::bytes);
  return rows;
}

}  // namespace

LivePass::LivePass(const v1::ProcessInfo& info)
    : ticks_per_second_(TicksPerSecond(info)),
      second_end_(info.start().tick() + static_cast<Tick>(TicksPerSecond(info))) {}

void LivePass::OnStart(const ReplayState& state) {
  state_ = &state;
  evidence_.OnStart(state);
}

LivePass::Device& LivePass::DeviceOf(DeviceId id) {
  if (id.value >= devices_.size()) devices_.resize(id.value + 1);
  devices_[id.value].known = true;
  return devices_[id.value];
}

void LivePass::EndSeconds(Tick tick) {
  const auto second = static_cast<Tick>(ticks_per_second_);
  const Tick passed = std::min<Tick>((tick - second_end_) / second + 1, kMostLevels);
  for (Device& device : devices_) {
    device.levels.push_back(device.second);
    device.second.allocated = device.live;
    const DeviceId id{static_cast<std::uint32_t>(&device - devices_.data())};
    device.second.reserved = device.known ? state_->memory(id).reserved().all : 0;
    for (Tick i = 1; i < passed; ++i) device.levels.push_back(device.second);
    while (device.levels.size() > kMostLevels) device.levels.pop_front();
  }
  second_end_ += ((tick - second_end_) / second + 1) * second;
}

void LivePass::AdvanceTo(Tick tick) {
  if (tick >= second_end_) EndSeconds(tick);
}

void LivePass::Note(Tick tick, DeviceId id) {
  if (tick >= second_end_) EndSeconds(tick);
  Device& device = DeviceOf(id);
  device.second.allocated = std::max(device.second.allocated, device.live);
  device.second.reserved = std::max(device.second.reserved, state_->memory(id).reserved().all);
}

void LivePass::OnAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  Device& device = DeviceOf(block.device);
  device.live += block.bytes;
  ordinal_ = block.ordinal + 1;
  device.peak = std::max(device.peak, device.live);
  if (device.live > device.step_peak) {
    device.step_peak = device.live;
    device.ordinal_at_peak = ordinal_;
    device.frees.clear();
  }
  Note(event.tick, block.device);
  evidence_.OnAllocate(event);
}

void LivePass::OnDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  Device& device = DeviceOf(block.device);
  device.live -= std::min(device.live, block.bytes);
  if (block.ordinal < device.ordinal_at_peak && step_in_full_) {
    device.frees.push_back({block.ordinal, block.bytes, block.module});
    if (device.frees.size() > kMostFrees) step_in_full_ = false;
  }
  Note(event.tick, block.device);
  evidence_.OnDeallocate(event);
}

void LivePass::OnRangeBegin(const RangeBeginEvent& event) {
  evidence_.OnRangeBegin(event);
  const bool of_user = event.range->source == RangeSource::kUser;
  if (!of_user) return;
  Stepped(steps_.SeeRangeBegin(event, state_->dictionary()), event.tick);
}

void LivePass::OnRangeEnd(const RangeEndEvent& event) {
  evidence_.OnRangeEnd(event);
  if (event.range->source == RangeSource::kUser) Stepped(steps_.SeeRangeEnd(event, state_->dictionary()), event.tick);
}

void LivePass::OnModuleEnter(const ModuleEvent& event) {
  evidence_.OnModuleEnter(event);
  Stepped(steps_.SeeModuleEnter(event, state_->stack(event.thread)), event.tick);
}

void LivePass::OnSwitch(const LevelChangeEvent& event) {
  if (event.thread.valid()) {
    level_ = event.level;
  } else {  // the reader of the live recording began or stopped reading operators
    in_full_ = event.level == v1::LEVEL_ALL;
  }
  if (event.level != v1::LEVEL_ALL) step_in_full_ = false;
}

void LivePass::OnMark(const MarkEvent& event) {
  const std::optional<FullStepsNote> note = ParseFullStepsNote(state_->dictionary().text(event.name));
  if (!note) return;
  if (note->steps == 0) {
    asked_.open = false;
    asked_.begun = asked_.steps;
  } else {
    asked_ = {asked_.times + 1, note->steps, note->first.value_or(steps_.newest(source_)), 1, true};
  }
}

void LivePass::OnOutOfMemory(const OutOfMemoryEvent& event) {
  evidence_.OnOutOfMemory(event);
  ++oom_count_;
  if (ooms_.size() == kMostOutOfMemory) ooms_.erase(ooms_.begin());
  ooms_.push_back(
      {steps_.newest(source_), event.asked->bytes, ToString(state_->dictionary().device(event.asked->device))});
}

void LivePass::OnDeviceSample(const DeviceSampleEvent& event) {
  if (!event.total_bytes || !event.free_bytes) return;
  Device& device = DeviceOf(event.device);
  const std::uint64_t reserved = state_->memory(event.device).reserved().all;
  const std::uint64_t used = *event.total_bytes - std::min(*event.total_bytes, *event.free_bytes);
  device.total = event.total_bytes;
  device.beside = used - std::min(used, reserved);
}

void LivePass::Stepped(StepSource source, Tick tick) {
  if (source == StepSource::kNone || source < source_) return;
  if (source > source_) {  // A better source of steps: from here on, its events define the steps.
    source_ = source;
    step_ticks_.clear();
    step_in_full_ = false;
    for (Device& device : devices_) device.growth.Clear();
  }
  const std::uint64_t newest = steps_.newest(source_);
  const bool whole = step_in_full_;
  if (whole && (rows_tick_ == 0 || static_cast<double>(tick - rows_tick_) > ticks_per_second_)) {
    FindRows(newest == 0 ? 0 : newest - 1);
    rows_tick_ = tick;
  }
  evidence_.Forget(ordinal_);
  for (Device& device : devices_) {
    device.last_step_peak = device.step_peak;
    device.step_peak = device.live;
    device.ordinal_at_peak = ordinal_;
    device.frees.clear();
    device.growth.Add(newest, device.live);
  }
  step_in_full_ = in_full_ && level_ == v1::LEVEL_ALL;
  step_ticks_.push_back(tick);
  if (step_ticks_.size() > kMostStepTicks) step_ticks_.pop_front();
}

std::string LivePass::ModuleName(ModuleId module) const {
  return module.valid() ? WithLayersMerged(state_->dictionary().module(module).full_path()) : kNoModule;
}

// Finds the composition of the peak of each device: sums the blocks by category and by module.
void LivePass::FindRows(std::uint64_t step) {
  struct DeviceSums {
    std::map<CategoryNumber, std::uint64_t> categories;
    std::map<ModuleId, std::uint64_t> modules;
    std::uint64_t bytes = 0;
    void Add(RuleNumber rule, ModuleId module, std::uint64_t of) {
      categories[CategoryOf(rule)] += of;
      modules[module] += of;
      bytes += of;
    }
  };
  std::vector<DeviceSums> found(devices_.size());
  evidence_.ForEachLive([&](const Block& block, RuleNumber rule) {
    const std::size_t at = block.device.value;
    if (at < found.size() && block.ordinal < devices_[at].ordinal_at_peak)
      found[at].Add(rule, block.module, block.bytes);
  });
  for (std::size_t at = 0; at < devices_.size(); ++at) {
    Device& device = devices_[at];
    for (const FreedBlock& freed : device.frees)
      found[at].Add(evidence_.RuleOfEnded(freed.ordinal), freed.module, freed.bytes);
    if (found[at].bytes == 0) continue;
    Sums categories, modules;
    for (const auto& [category, bytes] : found[at].categories) categories[LabelOfCategory(category)] += bytes;
    for (const auto& [module, bytes] : found[at].modules) modules[ModuleName(module)] += bytes;
    device.categories = Sorted(categories);
    device.modules = Sorted(modules);
    device.rows_step = step;
    device.rows_bytes = found[at].bytes;
  }
}

double LivePass::step_seconds() const {
  if (step_ticks_.size() < 2) return 0;
  const auto passed = static_cast<double>(step_ticks_.back() - step_ticks_.front());
  return passed / static_cast<double>(step_ticks_.size() - 1) / ticks_per_second_;
}

void LivePass::Describe(LiveProcess& process) const {
  process.step_source = source_;
  process.step = steps_.newest(source_);
  process.steps = source_ == StepSource::kNone ? 0 : steps_.begun(source_);
  process.step_seconds = step_seconds();
  process.level = level_;
  process.asked = asked_;
  if (asked_.open && process.step >= asked_.first)
    process.asked.begun = std::min(process.step - asked_.first + 1, asked_.steps);
  // A request usually ends with a mark from the tracker. If the recording level was lowered, the mark is missing. So
  // the request also ends after its last step.
  if (process.step >= asked_.first + asked_.steps) process.asked.open = false;
  process.ooms = ooms_;
  process.oom_count = oom_count_;
  for (std::size_t at = 0; at < devices_.size(); ++at) {
    const Device& of = devices_[at];
    if (!of.known || of.peak == 0) continue;
    const DeviceId id{static_cast<std::uint32_t>(at)};
    const DeviceMemory& memory = state_->memory(id);
    LiveMemory& device = process.devices.emplace_back();
    device.name = ToString(state_->dictionary().device(id));
    device.caching = memory.caching();
    device.allocated = of.live;
    device.active = memory.active().all;
    device.reserved = memory.reserved().all;
    device.peak = of.peak;
    device.step_peak = of.last_step_peak;
    device.total = of.total;
    if (of.total) device.headroom = *of.total - std::min(*of.total, of.beside + of.live);
    device.retries = memory.alloc_retries();
    device.ooms = memory.ooms();
    device.levels.assign(of.levels.begin(), of.levels.end());
    device.levels.push_back(of.second);
    device.categories = of.categories;
    device.modules = of.modules;
    device.rows_step = of.rows_step;
    device.rows_bytes = of.rows_bytes;
    device.growth = of.growth.FindGrowth();
    Foresee(process.step_seconds, device);
  }
}

}  // namespace memoir
