#include "tracker/writer/state/module_places.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kFirstNumbers = 256, kMostOfThread = std::size_t{1} << 16;
constexpr std::size_t kMostOpen = 1024;

// Returns the member `depth` of `range` (OpenRange::backward or OpenRange::optimizer); -1 if there is no range.
std::int64_t Around(const OpenRange* range, std::int32_t OpenRange::* depth) {
  return range == nullptr ? -1 : range->*depth;
}

}  // namespace

RangeRole RoleOf(EventKind kind, std::string_view text) {
  RangeRole role;
  role.backward = kind == EventKind::kRangeBeginBackward || text.starts_with("autograd::engine::");
  role.optimizer = kind == EventKind::kRangeBeginUser &&
                   (text.starts_with("Optimizer.step#") || text.starts_with("Optimizer.zero_grad#"));
  role.compiled = text.starts_with("Torch-Compiled Region") || text.starts_with("CompiledFunction");
  role.compiling = kind == EventKind::kRangeBeginUser && text.starts_with("torch.compile: ");
  role.accumulates = text == "torch::autograd::AccumulateGrad";
  return role;
}

ThreadModules::~ThreadModules() {
  if (numbers_left_ != nullptr) *numbers_left_ += numbers_.size();
}

ModulePlace ThreadModules::FindPlace(const RangeStack& ranges) const {
  const OpenRange* innermost = ranges.innermost();
  if (innermost != nullptr && innermost->role.compiling) return {0, kPlaceCompile};
  const std::int64_t backward = Around(innermost, &OpenRange::backward);
  const std::int64_t optimizer = Around(innermost, &OpenRange::optimizer);
  const std::int64_t inside = open_.empty() ? 0 : static_cast<std::int64_t>(open_.back().depth);
  if (optimizer > backward && optimizer >= inside) return {0, kPlaceOptimizer};
  if (!open_.empty() && inside > backward)
    return {open_.back().module, open_.back().recompute ? kPlaceRecompute : kPlaceForward};
  if (backward >= 0) return {ranges.kept()[static_cast<std::size_t>(backward)].module, kPlaceBackward};
  return {0, kPlaceOther};
}

ModulePlace ThreadModules::CurrentPlace(const RangeStack& ranges) const {
  ModulePlace found = FindPlace(ranges);
  if (ranges.innermost() != nullptr && ranges.innermost()->role.compiled) found.place |= kPlaceCompiled;
  return found;
}

// Returns the thread's stack `own`; inside an autograd node, also the stack of the node's forward operator. The second
// stack is omitted if `own` differs from the stack at the node's begin: the node then runs Python code, which `own`
// shows.
Callstacks ThreadModules::CurrentCallstacks(const RangeStack& ranges, std::uint32_t own) {
  const std::int64_t backward = Around(ranges.innermost(), &OpenRange::backward);
  if (backward < 0) return {own, 0};
  const OpenRange& node = ranges.kept()[static_cast<std::size_t>(backward)];
  return {own, node.stack == own ? node.forward_stack : 0};
}

void ThreadModules::BeginRange(RangeStack& ranges, std::uint32_t stack, std::int64_t sequence,
                               const ThreadModules* forward) {
  OpenRange* range = ranges.innermost();
  if (range == nullptr || ranges.kept().size() != ranges.depth()) return;
  range->stack = stack;
  if (range->kind == EventKind::kRangeBeginBackward) {
    const ForwardOperator ran = forward == nullptr ? ForwardOperator() : forward->Find(sequence);
    range->module = ran.module;
    range->forward_stack = ran.stack;
    // The engine opens another range around the range of each node. The engine's work in this outer range, before and
    // after the node's range, also belongs to the node.
    OpenRange* around = ranges.around_innermost();
    if (around != nullptr && around->role.backward && around->kind != EventKind::kRangeBeginBackward) {
      around->module = range->module;
      around->forward_stack = range->forward_stack;
    }
    return;
  }
  if (range->role.backward) return;
  // An optimizer itself runs without gradients. So operators with a sequence number belong to the closure that the
  // optimizer calls.
  if (optimizer_calls_model_ && range->kind == EventKind::kRangeBeginFunction && sequence >= 0) range->optimizer = -1;
  range->module = CurrentPlace(ranges).module;
  const bool is_forward =
      range->kind == EventKind::kRangeBeginFunction || range->kind == EventKind::kRangeBeginDispatch;
  if (!is_forward || sequence < 0) return;
  const Callstacks here = CurrentCallstacks(ranges, stack);
  Note(sequence, range->module, here.forward != 0 ? here.forward : here.own);
}

void ThreadModules::EndRanges(const RangeStack& ranges) {
  while (!open_.empty() && open_.back().depth > ranges.depth()) open_.pop_back();  // the ends of these calls were lost
}

// If the innermost range accumulates a gradient, the "call" only names the module of the parameter (RecordGradientOf in
// tracker/modules/module_calls.h). Sets the module of the range, and returns true.
bool ThreadModules::TakeGradientOf(RangeStack& ranges, std::uint32_t module) {
  OpenRange* range = ranges.innermost();
  if (range == nullptr || range->kind != EventKind::kRangeBeginBackward || !range->role.accumulates ||
      range->module != 0)
    return false;
  range->module = module;
  OpenRange* around = ranges.around_innermost();
  if (around != nullptr && around->role.backward) around->module = module;
  return true;
}

void ThreadModules::AddCall(RangeStack& ranges, std::uint32_t module, bool begins) {
  if (begins) {
    if (TakeGradientOf(ranges, module)) return;
    if (Around(ranges.innermost(), &OpenRange::optimizer) >= 0) optimizer_calls_model_ = true;
    if (open_.size() == kMostOpen) return;
    open_.push_back({module, ranges.depth(), Around(ranges.innermost(), &OpenRange::backward) >= 0});
    return;
  }
  // Also removes the calls inside of this call, because their ends were lost.
  const auto found =
      std::find_if(open_.rbegin(), open_.rend(), [&](const CalledModule& m) { return m.module == module; });
  if (found != open_.rend()) open_.resize(static_cast<std::size_t>(open_.rend() - found - 1));
}

void ThreadModules::Note(std::int64_t sequence, std::uint32_t module, std::uint32_t stack) {
  const auto low = static_cast<std::uint32_t>(sequence + 1);
  if (numbers_.empty() && !Grow()) return;
  const auto at = [&]() -> ForwardOperator& { return numbers_[low & (numbers_.size() - 1)]; };
  while (at().low != 0 && at().low != low && Grow()) {
  }
  at() = {low, stack, static_cast<std::uint16_t>(module)};
}

ThreadModules::ForwardOperator ThreadModules::Find(std::int64_t sequence) const {
  if (numbers_.empty() || sequence < 0) return {};
  const auto low = static_cast<std::uint32_t>(sequence + 1);
  const ForwardOperator& number = numbers_[low & (numbers_.size() - 1)];
  return number.low == low ? number : ForwardOperator();
}

bool ThreadModules::Grow() {
  const std::size_t size = numbers_.empty() ? kFirstNumbers : numbers_.size() * 2;
  const std::size_t more = size - numbers_.size();
  if (size > kMostOfThread || numbers_left_ == nullptr || *numbers_left_ < more) return false;
  *numbers_left_ -= more;
  const std::vector<ForwardOperator> old = std::exchange(numbers_, std::vector<ForwardOperator>(size));
  for (const ForwardOperator& number : old) {
    if (number.low != 0) numbers_[number.low & (size - 1)] = number;
  }
  return true;
}

}  // namespace memoir
