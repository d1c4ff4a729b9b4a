#include "tracker/detail/step_module.h"

namespace memoir {
namespace {

constexpr std::size_t kMostProbes = 8;

std::size_t Spread(std::uint64_t address) { return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> 32); }

}  // namespace

// Its own place, else one whose calls count no more, else the first: of more modules than there are places for, those
// that are called often are found again.
StepModule::Other& StepModule::Find(std::uint64_t module) {
  const std::size_t home = Spread(module);
  Other* free = nullptr;
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Other& other = others_[(home + i) % kOthers];
    const bool counts = other.calls > 0 && other.step == next_;
    if (counts && other.module == module) return other;
    if (!counts && free == nullptr) free = &other;
  }
  if (free == nullptr) free = &others_[home % kOthers];
  *free = {.module = module, .step = next_, .calls = 0};
  return *free;
}

std::optional<std::uint64_t> StepModule::Called(std::uint64_t module) {
  if (module == chosen_) return next_++;
  if (++Find(module).calls < kCallsOfStepModule) return std::nullopt;
  if (chosen_ == 0) next_ = kCallsOfStepModule - 1;
  chosen_ = module;
  return next_++;
}

}  // namespace memoir
