#include "tools/analyze/out_of_memory.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "tools/analyze/windowed_visitor.h"

namespace memoir {
namespace {

std::vector<Holder> Sorted(const std::map<std::string, Holder>& holders) {
  std::vector<Holder> sorted;
  for (const auto& [name, holder] : holders) sorted.push_back(holder);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Holder::bytes);
  return sorted;
}

class OutOfMemoryPass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  std::vector<OutOfMemory> Take() { return {errors_.begin(), errors_.end()}; }

 protected:
  void Stepped(const StepEvent& event) override { last_step_[event.process] = event.step; }
  void RanOutOfMemory(const OutOfMemoryEvent& event) override;

 private:
  std::string ModuleName(ModuleId id) const {
    if (!id.valid()) return "";
    const Module& module = state().dictionary().module(id);
    return module.path.empty() ? module.root : module.path;
  }
  void AddHolders(DeviceId device, OutOfMemory& error) const;

  std::deque<OutOfMemory> errors_;
  std::map<ProcessId, std::uint64_t> last_step_;
};

void OutOfMemoryPass::AddHolders(DeviceId device, OutOfMemory& error) const {
  std::map<std::string, Holder> by_operator, by_module;
  const auto add = [](std::map<std::string, Holder>& holders, std::string name, const Block& block) {
    Holder& holder = holders[name];
    holder.name = std::move(name);
    holder.bytes += block.bytes;
    ++holder.blocks;
  };
  state().ForEachLiveBlock([&](const Block& block) {
    if (block.device != device) return;
    const bool found = block.origin == BlockOrigin::kFound;
    const std::string by = found ? "(from before)" : std::string(state().dictionary().text(block.operator_name));
    add(by_operator, by.empty() ? "(no operator)" : by, block);
    const std::string module = found ? "(from before)" : ModuleName(block.module);
    add(by_module, module.empty() ? "(no module)" : module, block);
  });
  error.by_operator = Sorted(by_operator);
  error.by_module = Sorted(by_module);
}

void OutOfMemoryPass::RanOutOfMemory(const OutOfMemoryEvent& event) {
  if (!in_window()) return;
  const Block& asked = *event.asked;
  const Dictionary& dictionary = state().dictionary();
  const DeviceMemory& memory = state().memory(asked.device);
  OutOfMemory error;
  error.device = ToString(dictionary.device(asked.device));
  error.process = event.process;
  error.rank = capture().processes()[event.process.value].rank();
  error.ns = Nanoseconds(event);
  error.asked_bytes = asked.bytes;
  error.device_free = event.device_free;
  error.operator_name = dictionary.text(asked.operator_name);
  error.leaf_name = dictionary.text(asked.leaf_name);
  error.range_name = dictionary.text(asked.user_name);
  error.module = ModuleName(asked.module);
  if (asked.module.valid()) error.module_class = dictionary.module(asked.module).class_name;
  error.phase = asked.phase;
  if (const auto step = last_step_.find(event.process); step != last_step_.end()) error.step = step->second;
  error.allocated_bytes = memory.allocated().all;
  error.active_bytes = memory.active().all;
  error.reserved_bytes = memory.reserved().all;
  AddHolders(asked.device, error);
  errors_.push_back(std::move(error));
  if (errors_.size() > kMostOutOfMemory) errors_.pop_front();
}

}  // namespace

absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection) {
  OutOfMemoryPass pass(capture, selection);
  ReplayOptions replay = ReplayOptionsFor(selection, false, false);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  return pass.Take();
}

}  // namespace memoir
