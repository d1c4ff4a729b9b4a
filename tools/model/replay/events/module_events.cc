#include "tools/model/replay/events/module_events.h"

#include <algorithm>
#include <vector>

namespace memoir {
namespace {

constexpr std::size_t kMostOpenModules = 1u << 16;  // only a damaged capture has more

}  // namespace

ModuleEvent ModuleEvents::Decode(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = context_.MakeEvent<ModuleEvent>(thread.id(), cursor.tick);
  event.module = context_.ids().called_module(cursor.run.module.Next32());
  return event;
}

// If the innermost open range is an autograd node that accumulates the gradient of a parameter, the event is not a
// call: it names the module of this parameter. Stores this module in the range, and sets the fields of `event`. Returns
// false if the event is a call of the module.
bool ModuleEvents::TakeGradientOf(ThreadReplay& thread, ModuleEvent& event) {
  OpenRange* range = thread.range_at(static_cast<std::int32_t>(thread.stack().size()) - 1);
  if (range == nullptr || range->source != RangeSource::kBackward || !range->name.valid() || range->module.valid() ||
      !roles_.AccumulatesGradient(range->name))
    return false;
  range->module = event.module;
  OpenRange* around = thread.range_at(static_cast<std::int32_t>(range->depth) - 1);
  if (around != nullptr && around->role.backward) around->module = event.module;
  event.phase = Phase::kBackward;
  event.of_gradient = true;
  return true;
}

void ModuleEvents::ShowEnter(ThreadReplay& thread, RunCursor& cursor) {
  ModuleEvent event = Decode(thread, cursor);
  if (context_.options().modules && TakeGradientOf(thread, event)) return context_.visitor().OnModuleEnter(event);
  std::vector<OpenModule>& open = thread.modules();
  const bool recompute = thread.innermost() != nullptr && thread.innermost()->innermost_backward >= 0;
  thread.optimizer_calls_model |= thread.innermost() != nullptr && thread.innermost()->innermost_optimizer >= 0;
  event.phase = recompute ? Phase::kRecompute : Phase::kForward;
  event.depth = static_cast<std::uint32_t>(open.size());
  event.again = !open.empty() && open.back().module == event.module && open.back().depth == thread.stack().size();
  if (open.size() < kMostOpenModules) open.push_back({event.module, thread.stack().size(), recompute});
  context_.visitor().OnModuleEnter(event);
}

void ModuleEvents::ShowExit(ThreadReplay& thread, RunCursor& cursor) {
  ModuleEvent event = Decode(thread, cursor);
  std::vector<OpenModule>& open = thread.modules();
  // If the call is not the innermost open call, the ends of the calls inside of it were lost. An exit without its enter
  // belongs to a call from before the recording.
  const auto found =
      std::find_if(open.rbegin(), open.rend(), [&](const OpenModule& m) { return m.module == event.module; });
  if (found == open.rend()) return;
  event.phase = found->recompute ? Phase::kRecompute : Phase::kForward;
  event.depth = static_cast<std::uint32_t>(open.rend() - found - 1);
  open.resize(event.depth);
  context_.visitor().OnModuleExit(event);
}

void ModuleEvents::ApplyKeyframe(const v1::Keyframe& keyframe) {
  for (const v1::OpenModules& open : keyframe.open_modules()) {
    if (open.depth_size() != open.module_size() || open.recompute_size() != open.module_size())
      return context_.ReportDamage("open modules of a keyframe do not match");
    ThreadReplay& thread = threads_.Of(context_.ids().thread(open.thread()));
    for (int i = 0; i < open.module_size(); ++i) {
      const auto depth = static_cast<std::size_t>(std::min<std::uint64_t>(open.depth(i), thread.stack().size()));
      thread.modules().push_back({context_.ids().module(open.module(i)), depth, open.recompute(i) != 0});
    }
  }
}

}  // namespace memoir
