#include "tools/view/compare/headline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/compare/change_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kName = 60;

std::string Short(const std::string& name) { return Shortened(Escaped(name), kName); }

// Returns "train.py:31 aten::linear in layers.*".
std::string PlaceOfCause(const MainCause& cause) {
  std::vector<std::string> words;
  if (cause.source.known()) words.push_back(ShownPlace(cause.source, kName));
  if (!cause.operator_name.empty()) words.push_back(Short(cause.operator_name));
  const std::string in = words.empty() ? "" : cause.is_all_in_module ? "in " : "mostly in ";
  if (!cause.module.empty()) words.push_back(in + Short(cause.module));
  // A row whose source line, operator and module are unknown is named by its label.
  if (words.empty()) words.push_back(cause.line.empty() ? "several operators" : Short(cause.line));
  return fmt::format("{}", fmt::join(words, " "));
}

// Returns "train.py:31 aten::linear in layers.* (+480.0 MiB, activation)". "mostly" precedes a module or a category
// that has less than 9/10 of these bytes. "new" and "gone" follow the category of a line without bytes in A or in B.
std::string CauseText(const MainCause& cause, bool with_category = true) {
  const std::string most = cause.is_all_of_category ? ", " : ", mostly ";
  const std::string category = cause.category.empty() || !with_category ? "" : most + Short(cause.category);
  const bool is_news = cause.state == RowState::kNew || cause.state == RowState::kGone;
  const std::string news = is_news ? fmt::format(", {}", ToString(cause.state)) : "";
  return fmt::format("{} ({}{}{})", PlaceOfCause(cause), FormatSignedBytes(cause.bytes), category, news);
}

// Returns ", float32[8, 8, 128] there, was float32[8, 4, 128]". "" if the shape is the same, or if a change of the
// program explains the difference. Tensors that live longer (kEarlierSteps, kLiveCalls) do not count as such a change.
std::string ShapesText(const ComparedDevice& device) {
  const MainCause& cause = device.cause;
  const bool is_explained = std::ranges::any_of(device.causes, [](const ProgramChange& change) {
    return change.kind != ProgramChange::Kind::kEarlierSteps && change.kind != ProgramChange::Kind::kLiveCalls;
  });
  if (is_explained || cause.shape_a.empty()) return "";
  return fmt::format(", {} there, was {}", Short(cause.shape_b), Short(cause.shape_a));
}

// Describes the main cause of a device's difference. If no line has half of the difference, and a category has most of
// the difference, the category comes first.
std::string CauseOf(const ComparedDevice& device) {
  for (std::size_t side = 0; side < 2; ++side) {
    if (device.sides[side] && device.sides[side]->device.peak_is_evicted && device.cause.category.starts_with('('))
      return fmt::format("--max-size evicted the peak of {}; only its size is known", side == 0 ? "A" : "B");
  }
  const MainCause& cause = device.cause;
  const std::int64_t all = std::abs(device.difference());
  const bool is_most = 4 * std::abs(cause.bytes_of_category) > 3 * all && 2 * std::abs(cause.bytes) < all &&
                       (cause.bytes_of_category > 0) == (device.difference() > 0);
  if (cause.category.empty() || !is_most) return CauseText(cause);
  return fmt::format("{} of {}, most at {}", FormatSignedBytes(cause.bytes_of_category), Short(cause.category),
                     CauseText(cause, false));
}

// Describes the GPU of one capture if the other capture has no GPU, so that GPU memory cannot be compared.
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

std::string InstantText(const ComparedDevice& device, const Comparison& comparison, const std::string& at) {
  return InstantWords(at) + " " + DeviceWord(device, comparison);
}

// Returns true if the two peaks are at different instants, and the main cause is more than 1.5 times as large as the
// difference.
bool HasMoved(const ComparedDevice& device, const Comparison& comparison) {
  if (comparison.at.kind != InstantChoice::Kind::kPeak || comparison.of_snapshots) return false;
  const ComparedSide &a = device.a(), &b = device.b();
  const bool is_moved = a.phase != b.phase || a.device.peak_step != b.device.peak_step ||
                        a.device.peak_operator != b.device.peak_operator;
  return is_moved && 2 * std::abs(device.cause.bytes) > 3 * std::abs(device.difference());
}

// Returns "the allocator is set otherwise (none recorded, now expandable_segments:True)". "" if a change of the program
// was found.
std::string SettingsText(const ComparedDevice& device, const Comparison& comparison) {
  if (!comparison.changes.empty() || !device.a().device.caching || !device.b().device.caching) return "";
  for (const std::string_view what : {"allocator's settings", "allocator"}) {
    const auto found = std::ranges::find(comparison.unlike, what, &RecordingDifference::what);
    if (found != comparison.unlike.end())
      return fmt::format("the allocator is set otherwise ({}, now {})", Short(found->a), Short(found->b));
  }
  return "";
}

// Returns true if the difference is the small rest of larger changes in both directions.
bool IsRest(const ComparedDevice& device) {
  constexpr std::int64_t kSmall = 10;
  return device.causes.empty() && kSmall * std::abs(device.difference()) < device.cause.bytes;
}

// Returns the headline for a device that differs: the difference, the instant, and the causes.
std::string Differs(const ComparedDevice& device, const Comparison& comparison, const std::string& at) {
  const std::string changes = CausesText(device);
  const std::string causes = changes.empty() ? SettingsText(device, comparison) : changes;
  return fmt::format("{} at {}{}: {}{}{}{}", FormatSignedBytes(device.difference()),
                     InstantText(device, comparison, at), HasMoved(device, comparison) ? ", which has moved" : "",
                     causes, causes.empty() ? "" : "; mainly ", CauseOf(device), ShapesText(device));
}

// Returns "reserved +46.0 MiB (no expandable segments): train.py:31 aten::empty (+40.0 MiB of segments)". "" if the
// allocated bytes explain the difference.
std::string ReservedRemark(const ComparedDevice& device, const Comparison& comparison) {
  constexpr std::int64_t kOneSegment = std::int64_t{20} << 20;  // smaller differences come from rounding to segments
  const std::int64_t reserved = device.reserved_difference(), allocated = device.difference();
  const std::int64_t beside = std::abs(reserved - allocated);
  const bool is_rounding = beside <= kOneSegment || beside <= std::abs(allocated);
  if (reserved == 0 || (!device.is_same() && is_rounding)) return "";
  const auto allocator = std::ranges::find(comparison.unlike, "allocator", &RecordingDifference::what);
  const std::string setting = allocator == comparison.unlike.end() ? "" : fmt::format(" ({})", allocator->b);
  const MainCause& cause = device.reserved_cause;
  const std::string place = cause.category.empty() ? "" : ", " + cause.category;
  return fmt::format("reserved {}{}: {} ({} of segments{})", FormatSignedBytes(reserved), setting, PlaceOfCause(cause),
                     FormatSignedBytes(cause.bytes), place);
}

// Describes the difference at the end if the peaks are the same, because a leak may not change the peak.
std::string EndRemark(const ComparedDevice& device, const Comparison& comparison) {
  if (!device.is_same() || comparison.at.kind != InstantChoice::Kind::kPeak || comparison.of_snapshots) return "";
  const DeviceRow &a = device.a().device, &b = device.b().device;
  const auto more = static_cast<std::int64_t>(b.live_bytes_at_end) - static_cast<std::int64_t>(a.live_bytes_at_end);
  const bool is_small = 100 * static_cast<std::uint64_t>(std::abs(more)) < b.peak_allocated_bytes;
  return more == 0 || is_small ? "" : fmt::format("{} live at the end (--at end)", FormatSignedBytes(more));
}

// Describes the largest difference at an instant other than the peak, if it is larger than the difference at the peak.
std::string BelowRemark(const ComparedDevice& device, const Comparison& comparison) {
  if (comparison.at.kind != InstantChoice::Kind::kPeak || comparison.of_snapshots || device.below.empty()) return "";
  if (std::abs(device.below.front().difference()) <= std::abs(device.difference())) return "";
  return "below the peak " + BelowPeakText(device);
}

// Describes the difference of a device, or states that the device does not differ.
std::string MainPart(const ComparedDevice& device, const Comparison& comparison, const std::string& at) {
  const std::string where = InstantText(device, comparison, at), bytes = FormatBytes(device.b().held.bytes);
  if (device.is_same()) return fmt::format("no difference at {} ({} in both)", where, bytes);
  if (device.cause.bytes == 0) return fmt::format("as many bytes at {} ({}), in other blocks", where, bytes);
  if (device.difference() != 0 && !IsRest(device)) return Differs(device, comparison, at);
  if (device.difference() != 0)
    return fmt::format("about as many bytes at {}{} ({}, {}), but {}, and about as many less elsewhere", where,
                       HasMoved(device, comparison) ? ", which has moved" : "", bytes,
                       FormatSignedBytes(device.difference()), CauseOf(device));
  return fmt::format("as many bytes at {} ({}), but {}, and as many less elsewhere", where, bytes, CauseOf(device));
}

// Describes the device with the largest difference, other than `device`. Empty if no other device differs more than
// `device`.
std::string OtherRemark(const ComparedDevice& device, const Comparison& comparison, const std::string& at) {
  const ComparedDevice* most = nullptr;
  for (const ComparedDevice& other : comparison.devices) {
    const bool differs_more = device.is_same() || std::abs(other.difference()) > std::abs(device.difference());
    if (&other == &device || !other.has_both() || other.is_same() || !differs_more) continue;
    if (most == nullptr || std::abs(other.difference()) > std::abs(most->difference())) most = &other;
  }
  return most == nullptr ? "" : MainPart(*most, comparison, at);
}

std::uint64_t PeakOf(const ComparedDevice& device) {
  return (device.sides[0] ? device.a() : device.b()).device.peak_allocated_bytes;
}

// Returns "only B has cuda:1, 64.0 MiB at its peak: train.py:31 aten::empty (+64.0 MiB, parameter)", for the largest
// device that only one capture has.
std::string OnlyRemark(const ComparedDevice& device, const Comparison& comparison) {
  constexpr std::uint64_t kLarge = 1 << 20;
  const ComparedDevice* largest = nullptr;
  std::size_t counts[2] = {};
  for (const ComparedDevice& other : comparison.devices) {
    const bool is_large =
        PeakOf(other) >= kLarge && PeakOf(other) >= static_cast<std::uint64_t>(std::abs(device.difference()));
    const bool caching = other.sides[0] ? other.a().device.caching : other.b().device.caching;
    if (other.has_both() || (!is_large && !caching && !device.is_same())) continue;
    ++counts[other.sides[0] ? 0 : 1];
    if (largest == nullptr || PeakOf(other) > PeakOf(*largest)) largest = &other;
  }
  if (largest == nullptr) return "";
  const std::size_t side = largest->sides[0] ? 0 : 1;
  const std::string more =
      counts[side] == 1 ? "" : fmt::format(", and {} more", FormatCounted(counts[side] - 1, "device", "devices"));
  return fmt::format("only {} has {}, {} at its peak: {}{}", side == 0 ? "A" : "B", DeviceWord(*largest, comparison),
                     FormatBytes(PeakOf(*largest)), CauseOf(*largest), more);
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
  const std::string only_gpu = OnlyGpu(comparison);
  std::string line = only_gpu + MainPart(*device, comparison, at);
  for (const std::string& remark :
       {EndRemark(*device, comparison), BelowRemark(*device, comparison), ReservedRemark(*device, comparison),
        OtherRemark(*device, comparison, at), only_gpu.empty() ? OnlyRemark(*device, comparison) : ""}) {
    if (!remark.empty()) line += "; " + remark;
  }
  return line;
}

}  // namespace memoir
