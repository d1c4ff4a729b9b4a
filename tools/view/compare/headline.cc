#include "tools/view/compare/headline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kName = 60;

std::string Short(const std::string& name) { return Shortened(Escaped(name), kName); }

// "train.py:31 aten::linear in layers.* (+480.0 MiB, activation)"
std::string CauseText(const MainCause& cause, bool with_category = true) {
  std::vector<std::string> words;
  if (cause.source.known()) words.push_back(ShownPlace(cause.source, kName));
  if (!cause.operator_name.empty()) words.push_back(Short(cause.operator_name));
  if (!cause.module.empty()) words.push_back((words.empty() ? "" : "in ") + Short(cause.module));
  // A line that is none says what it is where nothing else does.
  if (words.empty()) words.push_back(cause.line.empty() ? "several operators" : Short(cause.line));
  const std::string category = cause.category.empty() || !with_category ? "" : ", " + Short(cause.category);
  return fmt::format("{} ({}{})", fmt::join(words, " "), FormatSignedBytes(cause.bytes), category);
}

// Of a device: where one line is not half of it and its category is most, that comes first.
std::string CauseOf(const ComparedDevice& device) {
  for (std::size_t side = 0; side < 2; ++side) {
    if (device.sides[side]->device.peak_is_folded && device.cause.category.starts_with("("))
      return fmt::format("--max-size evicted the peak of {}, of which the size alone is known", side == 0 ? "A" : "B");
  }
  const MainCause& cause = device.cause;
  const std::int64_t all = std::abs(device.difference());
  const bool is_most = 4 * std::abs(cause.bytes_of_category) > 3 * all && 2 * std::abs(cause.bytes) < all &&
                       (cause.bytes_of_category > 0) == (device.difference() > 0);
  if (cause.category.empty() || !is_most) return CauseText(cause);
  return fmt::format("{} of {}, most at {}", FormatSignedBytes(cause.bytes_of_category), Short(cause.category),
                     CauseText(cause, false));
}

// A GPU that one recording has and the other has none: what the figures of both are not about.
std::string OnlyGpu(const Comparison& comparison) {
  for (std::size_t side = 0; side < 2; ++side) {
    const auto has = [&](const ComparedDevice& device) {
      return device.sides[side] && device.sides[side]->device.caching;
    };
    const auto other_has = [&](const ComparedDevice& device) {
      return device.sides[1 - side] && device.sides[1 - side]->device.caching;
    };
    const auto gpu = std::ranges::find_if(comparison.devices, has);
    if (gpu == comparison.devices.end() || std::ranges::any_of(comparison.devices, other_has)) continue;
    return fmt::format("{} used no GPU, {} had {} at the peak of {}; ", side == 0 ? "B" : "A", side == 0 ? "A" : "B",
                       FormatBytes(gpu->sides[side]->device.peak_allocated_bytes), DeviceWord(*gpu, comparison));
  }
  return "";
}

std::string NothingInBoth(const Comparison& comparison) {
  std::vector<std::string> names[2];
  for (const ComparedDevice& device : comparison.devices) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (device.sides[side]) names[side].push_back(DeviceWord(device, comparison));
    }
  }
  const auto list = [](const std::vector<std::string>& devices) {
    return devices.empty() ? "none" : fmt::format("{}", fmt::join(devices, ", "));
  };
  return fmt::format("nothing to compare: no device is in both. A has {}; B has {}", list(names[0]), list(names[1]));
}

std::string Where(const ComparedDevice& device, const Comparison& comparison, const std::string& at) {
  return InstantWords(at) + " " + DeviceWord(device, comparison);
}

std::string SameLine(const ComparedDevice& device, const Comparison& comparison, const std::string& at) {
  const std::string same = fmt::format("no difference at {} ({} in both)", Where(device, comparison, at),
                                       FormatBytes(device.b().held.bytes));
  const auto other = std::ranges::find_if(comparison.devices,
                                          [](const ComparedDevice& one) { return one.has_both() && !one.is_same(); });
  if (other == comparison.devices.end()) return same;
  return fmt::format("{}; {} at {}: {}", same, FormatSignedBytes(other->difference()), Where(*other, comparison, at),
                     CauseOf(*other));
}

}  // namespace

std::string InstantWords(const std::string& at) {
  return at == "the peak" || at == "the snapshot" ? at + " of" : Escaped(at) + " on";
}

std::string DeviceWord(const ComparedDevice& device, const Comparison& comparison) {
  const auto rank_of = [](const ComparedDevice& one) { return one.rank_b ? one.rank_b : one.rank_a; };
  const auto rank = rank_of(device);
  const bool several =
      std::ranges::any_of(comparison.devices, [&](const ComparedDevice& other) { return rank_of(other) != rank; });
  return several && rank ? fmt::format("rank {} {}", *rank, Escaped(device.name)) : Escaped(device.name);
}

std::string Headline(const Comparison& comparison, const std::string& at) {
  const ComparedDevice* device = comparison.focus();
  if (device == nullptr) return NothingInBoth(comparison);
  const std::string begin = OnlyGpu(comparison), where = Where(*device, comparison, at);
  if (device->is_same()) return begin + SameLine(*device, comparison, at);
  if (device->cause.bytes == 0)
    return fmt::format("{}as many bytes at {} ({}), in other blocks", begin, where,
                       FormatBytes(device->b().held.bytes));
  const std::string line =
      fmt::format("{}{} at {}: {}", begin, FormatSignedBytes(device->difference()), where, CauseOf(*device));
  return device->difference() == 0 ? line + ", and as much the other way" : line;
}

}  // namespace memoir
