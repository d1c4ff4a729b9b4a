#include "tracker/repeated_steps/step_module.h"

namespace memoir {
namespace {

constexpr std::size_t kMostProbes = 8;

std::size_t Spread(std::uint64_t address) { return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> 32); }

}  // namespace

// Returns the module's candidate. If the module has no candidate, makes a new one in the first of kMostProbes places
// whose calls no longer count. If there is no such place, replaces the candidate at `home`, the first of these places.
// The other places keep their candidates. So a module that is called often usually stays a candidate, even if the
// program has many modules.
StepModule::Candidate& StepModule::Find(std::uint64_t module) {
  const std::size_t home = Spread(module);
  Candidate* free = nullptr;
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Candidate& candidate = candidates_[(home + i) % kCandidates];
    const bool counts = candidate.calls > 0 && candidate.step == next_;
    if (counts && candidate.module == module) return candidate;
    if (!counts && free == nullptr) free = &candidate;
  }
  if (free == nullptr) free = &candidates_[home % kCandidates];
  *free = {.module = module, .step = next_, .calls = 0};
  return *free;
}

std::optional<std::uint64_t> StepModule::NoteCall(std::uint64_t module) {
  if (module == chosen_) return next_++;
  if (++Find(module).calls < kCallsOfStepModule) return std::nullopt;
  if (chosen_ == 0) next_ = kCallsOfStepModule - 1;
  chosen_ = module;
  return next_++;
}

}  // namespace memoir
