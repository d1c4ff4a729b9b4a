#include "tools/analyze/checkpointing/checkpoint_pass.h"

#include <algorithm>
#include <utility>

namespace memoir {

std::vector<CheckpointPass::RuleTraits> CheckpointPass::TraitsOfRules() {
  std::vector<RuleTraits> traits;
  for (const Rule& rule : Rules()) {
    const bool activation = rule.kept == Category::kActivation;
    const bool cast = rule.name == "cast_parameter";
    const bool passes = activation || rule.kept == Category::kTemporary || rule.kept == Category::kInput;
    traits.push_back({activation, cast, passes && !cast, rule.name == "workspace"});
  }
  return traits;
}

CheckpointedPeaks& CheckpointPass::PeaksOf(DeviceId device, const Event& event) {
  const auto known = std::ranges::find(devices_, device, &std::pair<DeviceId, CheckpointedPeaks>::first);
  if (known != devices_.end()) return known->second;
  devices_.emplace_back(device, CheckpointedPeaks());
  if (in_window()) devices_.back().second.OpenWindow(event.tick);
  return devices_.back().second;
}

void CheckpointPass::SeeWindowOpen(const Event& event) {
  for (auto& [device, peaks] : devices_) peaks.OpenWindow(event.tick);
}

void CheckpointPass::SeeWindowClose(const Event&) {
  for (auto& [device, peaks] : devices_) peaks.CloseWindow();
}

CheckpointPass::CallOnDevice& CheckpointPass::FindDevice(Call& call, DeviceId device, const CheckpointedPeaks& peaks) {
  const auto known = std::ranges::find(call.devices, device, &CallOnDevice::device);
  if (known != call.devices.end()) return *known;
  return call.devices.emplace_back(CallOnDevice{device, peaks.history().now(), peaks.live()});
}

void CheckpointPass::SeeModuleEnter(const ModuleEvent& event) {
  if (event.of_gradient) return;
  const CallNumber number = calls_.Enter(event, state().dictionary());
  const bool again = event.phase == Phase::kRecompute && !event.again;
  const AlikeNumber alike = again ? calls_.AlikeOf(event.module, state().dictionary()) : calls_[number].alike;
  if (alike == kNoAlike) return;
  if (alike >= counted_.size()) counted_.resize(alike + 1);
  if (alike >= already_.size()) already_.resize(alike + 1);
  if (in_window()) ++(again ? already_ : counted_)[alike];
  if (number == 0 || calls_[number].depth > WatchedBlock::kMostDepth) return;
  Call& call = open_[number];
  call.alike = alike;
  call.depth = calls_[number].depth;
  for (const auto& [device, peaks] : devices_) FindDevice(call, device, peaks);
}

void CheckpointPass::SeeModuleExit(const ModuleEvent& event) {
  calls_.Exit(event, [this](CallNumber number) { EndCall(number); });
}

void CheckpointPass::EndCall(CallNumber number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  Call& call = found->second;
  call.ended = true;
  for (const auto& [slot, ordinal] : call.waiting) {
    if (watched_[slot].ordinal == ordinal) AwaitReturn(slot);
  }
  call.waiting.clear();
  if (call.blocks == 0) Release(number);
}

void CheckpointPass::SeeRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  if (range.source == RangeSource::kBackward) {
    if (event.thread.value >= live_at_node_.size()) live_at_node_.resize(event.thread.value + 1);
    std::vector<std::uint64_t>& live = live_at_node_[event.thread.value];
    live.clear();
    for (const auto& [device, peaks] : devices_) live.push_back(peaks.live());
    return;
  }
  if (event.tensors.empty()) return;
  range.innermost_backward < 0 ? NoteForwardReads(event) : NoteBackwardReads(event);
}

void CheckpointPass::NoteForwardReads(const RangeBeginEvent& event) {
  const CallNumber call = calls_.InnermostCall(event.thread);
  for (const Tensor& tensor : event.tensors) {
    WatchedBlock* watched = WatchedAt(tensor);
    if (watched == nullptr) continue;
    if (watched->may_be_input && call != watched->call) NoteInput(*watched, call);
    if (!watched->activation) continue;
    // An operator below autograd has no sequence number, and saves no tensor.
    if (event.range->sequence >= 0) NoteMost(*watched, calls_.CommonCaller(watched->call, call), watched->device);
    if (watched->reads == 0) continue;
    --watched->reads;
    if (watched->reads > 0) continue;
    // The frame that holds the block usually replaces its reference when the last reading call returns: x = layer(x).
    const CallNumber last = AtDepth(call, calls_[watched->holder].depth + 1);
    if (last != 0 && !watched->cast) watched->holder = last;
    AwaitReturn(static_cast<std::uint32_t>(watched - watched_.data()));
  }
}

void CheckpointPass::NoteBackwardReads(const RangeBeginEvent& event) {
  for (const Tensor& tensor : event.tensors) {
    const WatchedBlock* watched = WatchedAt(tensor);
    if (watched != nullptr && watched->activation) MakeAgainCallsOf(*watched, event.thread);
  }
}

CheckpointPass::WatchedBlock* CheckpointPass::WatchedAt(const Tensor& tensor) {
  if (tensor.storage == 0) return nullptr;
  const Block* block = state().LiveBlockAt(tensor.device, tensor.storage);
  if (block == nullptr || block->slot >= watched_.size()) return nullptr;
  WatchedBlock& watched = watched_[block->slot];
  return watched.ordinal == block->ordinal ? &watched : nullptr;
}

CheckpointPass::WatchedBlock& CheckpointPass::Watch(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (block.slot >= watched_.size()) watched_.resize(block.slot + 1);
  WatchedBlock& watched = watched_[block.slot];
  watched.inputs_of.clear();
  const RuleTraits traits = traits_[categories_.RuleOf(block)];
  const bool forward = block.phase == Phase::kForward && event.stack != nullptr;
  const BlockUse use = uses_.UseOf(block);
  watched.ordinal = block.ordinal;
  watched.call = forward ? calls_.InnermostCall(event.thread) : 0;
  // Autocast also holds the copies that it makes of parameters. A copy counts only if backward frees it, because then
  // only the graph held the copy.
  watched.activation = traits.activation && watched.call != 0 && (!traits.cast || use.freed_in_backward);
  watched.may_be_input = traits.may_be_input;
  watched.reads = use.reads;
  watched.settled = false;
  watched.cast = traits.cast;
  watched.device = block.device;
  watched.bytes = block.bytes;
  watched.freed_in_backward = use.freed_in_backward;
  watched.leaves = watched.saved_in = 0;
  for (std::uint32_t depth = 1; depth <= std::min(calls_[watched.call].depth, WatchedBlock::kMostDepth); ++depth) {
    if (use.Leaves(depth)) watched.leaves |= WatchedBlock::Bit(depth);
    if (use.IsSavedInside(depth)) watched.saved_in |= WatchedBlock::Bit(depth);
  }
  const std::uint32_t holder = traits.cast ? 1 : use.read_outermost;
  watched.holder = AtDepth(watched.call, std::min(holder, calls_[watched.call].depth));
  return watched;
}

void CheckpointPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  CheckpointedPeaks& peaks = PeaksOf(block.device, event);
  const WatchedBlock* watched = block.slot == Block::kNoSlot ? nullptr : &Watch(event);
  const bool activation = watched != nullptr && watched->activation;
  if (activation) AddMade(*watched, peaks);
  peaks.Change(peaks.live() + block.bytes, event.tick);
  if (watched != nullptr && traits_[categories_.RuleOf(block)].workspace && !uses_.UseOf(block).freed_in_forward)
    LeaveOut(block, peaks);
  if (!activation) return;
  NoteResult(event, *watched);
  if (watched->reads == 0) AwaitReturn(block.slot);
}

void CheckpointPass::SeeDeallocate(const DeallocateEvent& event) {
  const Block& block = *event.block;
  CheckpointedPeaks& peaks = PeaksOf(block.device, event);
  WatchedBlock* watched = block.slot < watched_.size() ? &watched_[block.slot] : nullptr;
  if (watched != nullptr && watched->ordinal != block.ordinal) watched = nullptr;
  const bool activation = watched != nullptr && watched->activation;
  const RangeStack* stack = event.thread.valid() ? &state().stack(event.thread) : nullptr;
  if (activation && stack != nullptr && !stack->empty() && stack->back().innermost_backward >= 0)
    MakeAgainCallsOf(*watched, event.thread);
  if (watched != nullptr) HoldInput(*watched, peaks);
  if (activation) RemoveMade(*watched, peaks);
  peaks.Change(peaks.live() - block.bytes, event.tick);
  if (watched == nullptr) return;
  watched->ordinal = ~std::uint64_t{0};
  if (!activation) return;
  for (CallNumber number = watched->call; number != 0; number = calls_[number].caller) {
    const auto found = open_.find(number);
    if (found != open_.end() && found->second.ended && found->second.blocks == 0) Release(number);
  }
}

void CheckpointPass::SeeProcessEnd(const ProcessEvent& event) {
  if (selection().window.kind == SelectionWindow::Kind::kAll) TouchWaiting();
  calls_.EndProcess([](CallNumber) {});
  for (const auto& [device, peaks] : devices_) FinishDevice(device, peaks, event.process);
  open_.clear();
  watched_.clear();
  held_.clear();
  unheld_.clear();
  devices_.clear();
  live_at_node_.clear();
  results_.clear();
  counted_.clear();
  already_.clear();
}

void CheckpointPass::FinishDevice(DeviceId device, const CheckpointedPeaks& peaks, ProcessId process) {
  CheckpointDevice row;
  row.name = ToString(state().dictionary().device(device));
  row.process = process;
  row.rank = capture().processes()[process.value].rank();
  row.caching = state().memory(device).caching();
  row.peak_bytes = peaks.peak();
  row.peak_ns = state().Nanoseconds(process, peaks.peak_tick());
  for (AlikeNumber alike = 0; alike < counted_.size(); ++alike) {
    const std::uint64_t already = alike < already_.size() ? already_[alike] : 0;
    if (counted_[alike] + already == 0) continue;
    CheckpointedPeaks::Group group;
    group.peak = peaks.peak();
    if (alike < peaks.groups().size()) group = peaks.groups()[alike];
    const AlikeModules& modules = calls_.alike()[alike];
    row.rows.push_back({modules.path.empty() ? modules.root : modules.path, modules.root, modules.path,
                        modules.class_name, modules.modules.size(), counted_[alike], already, group.peak,
                        static_cast<std::int64_t>(peaks.peak() - group.peak), group.kept_at_peak, group.again,
                        peaks.peak_is_cut_off()});
  }
  std::ranges::stable_sort(row.rows, [](const CheckpointRow& a, const CheckpointRow& b) {
    return std::pair(b.freed_bytes, b.kept_bytes) < std::pair(a.freed_bytes, a.kept_bytes);
  });
  rows_.push_back(std::move(row));
}

}  // namespace memoir
