#include "tools/analyze/oom/fitting_input.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace memoir {
namespace {

// Number of steps at the begin of the program that are left out. The first step allocates memory that stays: gradients
// and optimizer states. The second step is the first whose peak contains this memory, and caches of libraries may still
// grow in it.
constexpr std::uint64_t kFirstSteps = 2;
constexpr std::size_t kLeastSteps = 6;
constexpr std::size_t kMostSteps = 4096;
constexpr double kLeastSpread = 1.2;          // smallest ratio of the largest input to the smallest input
constexpr double kLeastDetermination = 0.98;  // smallest R squared of the line

constexpr double kUsed = 0.95;  // share of the usable bytes that blocks can fill; the gaps between them are lost
constexpr double kMargin = 3;   // distance of Most() from the line, in standard errors of a prediction

// A line through the points (input, peak), with the sums over the points that Most() needs.
struct Line {
  double at_none = 0;  // peak of a step without inputs
  double slope = 0;
  double count = 0;
  double mean_x = 0;
  double xx = 0;        // sum of squared differences between the inputs and their mean
  double variance = 0;  // variance of the peaks around the line

  // Returns the highest likely peak of a step with inputs of `x` bytes.
  double Most(double x) const {
    const double away = x - mean_x;
    return at_none + slope * x + kMargin * std::sqrt(variance * (1 + 1 / count + away * away / xx));
  }
};

// Fits a line by least squares. nullopt if the line does not rise, or if the points do not lie on it.
template <typename Peaks>
std::optional<Line> LineThrough(const Peaks& peaks) {
  const double count = static_cast<double>(peaks.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (const auto& peak : peaks) {
    mean_x += peak.input / count;
    mean_y += peak.allocated / count;
  }
  for (const auto& peak : peaks) {
    const double x = peak.input - mean_x, y = peak.allocated - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (xx <= 0 || yy <= 0 || xy <= 0 || xy * xy / (xx * yy) < kLeastDetermination) return std::nullopt;
  const double residue = std::max(0.0, yy - xy * xy / xx);
  return Line{mean_y - xy / xx * mean_x, xy / xx, count, mean_x, xx, residue / (count - 2)};
}

// Returns true if there are enough steps, and their inputs have clearly different sizes.
template <typename Peaks>
bool AreSpread(const Peaks& peaks) {
  if (peaks.size() < kLeastSteps) return false;
  const auto [least, most] = std::ranges::minmax_element(peaks, {}, [](const auto& peak) { return peak.input; });
  return least->input > 0 && most->input >= kLeastSpread * least->input;
}

}  // namespace

void FittingInputFinder::Clear() {
  devices_.clear();
  inputs_.clear();
}

void FittingInputFinder::NoteAllocation(const Block& block, bool is_input, std::uint64_t allocated) {
  Device& device = devices_[block.device];
  if (is_input) {
    inputs_[block.ordinal] = block.bytes;
    device.input += block.bytes;
  }
  device.allocated = allocated;
  for (Steps& steps : device.steps) {
    if (static_cast<double>(allocated) > steps.running.allocated)
      steps.running = {static_cast<double>(device.input), static_cast<double>(allocated)};
  }
}

void FittingInputFinder::NoteFree(const Block& block) {
  const auto known = inputs_.find(block.ordinal);
  if (known == inputs_.end()) return;
  devices_[block.device].input -= known->second;
  inputs_.erase(known);
}

void FittingInputFinder::SeeStepBegin(StepKind kind) {
  for (auto& [id, device] : devices_) {
    Steps& steps = device.steps[static_cast<std::size_t>(kind)];
    if (steps.skipped < kFirstSteps) {
      ++steps.skipped;
    } else if (steps.running.allocated > 0) {
      steps.over.push_back(steps.running);
      if (steps.over.size() > kMostSteps) steps.over.pop_front();
    }
    steps.running = {};
  }
}

// If the peaks of all inputs do not lie on a line, uses only the larger half of the inputs, because a step with a small
// input may have its peak in the optimizer.
std::optional<FittingInput> FittingInputFinder::FindFit(DeviceId id, StepKind kind, std::uint64_t usable) const {
  const auto known = devices_.find(id);
  if (known == devices_.end() || kind == StepKind::kModuleCall) return std::nullopt;
  const Device& device = known->second;
  const std::deque<Peak>& peaks = device.steps[static_cast<std::size_t>(kind)].over;
  std::vector<Peak> used(peaks.begin(), peaks.end());
  if (!AreSpread(used)) return std::nullopt;
  std::optional<Line> line = LineThrough(used);
  if (!line) {
    std::ranges::stable_sort(used, {}, &Peak::input);
    used.erase(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2));
    if (!AreSpread(used)) return std::nullopt;
    line = LineThrough(used);
  }
  if (!line) return std::nullopt;
  double fitting = 0, too_large = static_cast<double>(device.input);
  const double most = kUsed * static_cast<double>(usable);
  if (line->Most(too_large) <= most) return std::nullopt;
  constexpr int kHalvings = 64;  // enough halvings to find the exact byte
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = fitting + (too_large - fitting) / 2;
    (line->Most(middle) <= most ? fitting : too_large) = middle;
  }
  if (fitting < 1) return std::nullopt;
  return FittingInput{used.size(), device.input, static_cast<std::uint64_t>(fitting)};
}

}  // namespace memoir
