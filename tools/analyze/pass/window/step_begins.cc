#include "tools/analyze/pass/window/step_begins.h"

#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kMostSteps = std::size_t{1} << 16;

}  // namespace

void StepBeginFinder::Add(StepSource source, const StepCounter& steps, std::uint64_t ns) {
  Steps& begun = steps_[static_cast<std::size_t>(source)];
  const std::uint64_t step = steps.newest(source);
  if (steps.begun(source) == 0 || (!begun.ns.empty() && begun.last == step)) return;
  if (begun.ns.empty()) begun.first = step;
  begun.last = step;
  begun.last_ns = ns;
  ++begun.count;
  if (begun.ns.size() < kMostSteps) begun.ns.push_back(ns);
}

void StepBeginFinder::AddRunning(const StepCounter& steps, std::uint64_t ns) {
  for (std::size_t i = 0; i < kStepSources; ++i) Add(static_cast<StepSource>(i), steps, ns);
}

void StepBeginFinder::AddZero(StepSource source, std::uint64_t ns) {
  Steps& begun = steps_[static_cast<std::size_t>(source)];
  if (!begun.ns.empty()) return;
  begun.ns.push_back(ns);
  ++begun.count;
}

void StepBeginFinder::RemoveFrom(std::uint64_t end_ns) {
  for (Steps& begun : steps_) {
    const bool last_is_outside = begun.count > begun.ns.size() && begun.last_ns >= end_ns;
    begun.count -= std::erase_if(begun.ns, [&](std::uint64_t ns) { return ns >= end_ns; }) + (last_is_outside ? 1 : 0);
  }
}

StepBegins StepBeginFinder::Take(StepSource source) {
  Steps& begun = steps_[static_cast<std::size_t>(source)];
  return {source, begun.first, std::exchange(begun.count, 0), std::exchange(begun.ns, {})};
}

}  // namespace memoir
