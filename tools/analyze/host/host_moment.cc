#include "tools/analyze/host/host_moment.h"

#include <algorithm>

namespace memoir {
namespace {

std::int64_t Signed(std::optional<std::uint64_t> bytes) { return static_cast<std::int64_t>(bytes.value_or(0)); }

// How often what comes later is more, of all pairs: 1 where it only grows, 0.5 of noise.
double ShareThatRises(const std::vector<HostMoment>& moments) {
  std::size_t rises = 0, pairs = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    for (std::size_t j = i + 1; j < moments.size(); ++j, ++pairs)
      if (moments[j].resident() > moments[i].resident()) ++rises;
  }
  return pairs == 0 ? 0 : static_cast<double>(rises) / static_cast<double>(pairs);
}

// At most so many, evenly spaced in time, the last among them.
std::vector<HostMoment> Spaced(const std::vector<HostMoment>& moments, std::uint64_t since_ns) {
  constexpr std::size_t kMost = 64;
  std::vector<HostMoment> spaced;
  const std::uint64_t until_ns = moments.back().ns;
  std::uint64_t next_ns = since_ns;
  for (const HostMoment& moment : moments) {
    if (moment.ns < next_ns) continue;
    spaced.push_back(moment);
    next_ns = moment.ns + (until_ns - since_ns) / kMost;
  }
  if (spaced.back().ns != until_ns) spaced.push_back(moments.back());
  return spaced;
}

}  // namespace

std::string_view ToString(HostPart part) {
  static constexpr std::array<std::string_view, kHostParts> kNames = {"tensors", "pinned", "malloc", "malloc_free",
                                                                      "other",   "shared", "files",  "untouched"};
  return kNames[static_cast<std::size_t>(part)];
}

std::optional<std::uint64_t> HostMoment::limit() const {
  return numbers.group_limit_bytes ? numbers.group_limit_bytes : numbers.machine_bytes;
}

std::optional<std::uint64_t> HostMoment::headroom() const {
  if (!numbers.group_limit_bytes || !numbers.group_used_bytes) return numbers.machine_available_bytes;
  // Pages of files are taken back before a killer comes.
  const std::uint64_t used =
      *numbers.group_used_bytes - std::min(*numbers.group_used_bytes, numbers.group_reclaimable_bytes.value_or(0));
  return *numbers.group_limit_bytes - std::min(*numbers.group_limit_bytes, used);
}

HostMoment DivideHost(const HostNumbers& numbers, std::uint64_t tensors, std::uint64_t pinned) {
  HostMoment moment;
  moment.numbers = numbers;
  moment[HostPart::kTensors] = static_cast<std::int64_t>(tensors);
  moment[HostPart::kPinned] = static_cast<std::int64_t>(pinned);
  moment[HostPart::kMallocFree] = Signed(numbers.malloc_free_bytes);
  // Tensors are of malloc, too; large pinned blocks may not be.
  moment[HostPart::kMalloc] = std::max<std::int64_t>(0, Signed(numbers.malloc_used_bytes) - moment[HostPart::kTensors]);
  moment[HostPart::kShared] = Signed(numbers.shared_bytes);
  moment[HostPart::kFiles] = Signed(numbers.file_bytes);
  std::int64_t named = 0;
  for (const HostPart part : {HostPart::kTensors, HostPart::kPinned, HostPart::kMalloc, HostPart::kMallocFree})
    named += moment[part];
  const std::int64_t rest = Signed(numbers.anonymous_bytes) - named;
  moment[rest < 0 ? HostPart::kUntouched : HostPart::kOther] = rest;
  return moment;
}

std::optional<HostGrowth> GrowthOf(const std::vector<HostMoment>& moments) {
  constexpr std::size_t kFewest = 6;
  constexpr double kRises = 0.85;
  constexpr std::int64_t kSmallest = 64 << 20;
  constexpr std::int64_t kShare = 20;  // a twentieth of what was there
  if (moments.size() < kFewest) return std::nullopt;
  // What is loaded and cached in the first third is no growth that goes on.
  const std::uint64_t since_ns = moments.front().ns + (moments.back().ns - moments.front().ns) / 3;
  const std::vector<HostMoment> late = Spaced(moments, since_ns);
  const HostMoment &first = late.front(), &last = late.back();
  HostGrowth growth;
  growth.bytes = static_cast<std::int64_t>(last.resident()) - static_cast<std::int64_t>(first.resident());
  if (late.size() < kFewest / 2 || growth.bytes < kSmallest ||
      growth.bytes < static_cast<std::int64_t>(first.resident()) / kShare || ShareThatRises(late) < kRises)
    return std::nullopt;
  // And it goes on in the last third of that.
  const auto third = std::ranges::find_if(
      late, [&](const HostMoment& moment) { return moment.ns >= last.ns - (last.ns - first.ns) / 3; });
  if (static_cast<std::int64_t>(last.resident()) - static_cast<std::int64_t>(third->resident()) < growth.bytes / 10)
    return std::nullopt;
  for (std::size_t i = 0; i < kHostParts; ++i) {
    const std::int64_t more = last.bytes[i] - first.bytes[i];
    if (more <= growth.part_bytes) continue;
    growth.part_bytes = more;
    growth.part = static_cast<HostPart>(i);
  }
  growth.since_ns = first.ns;
  growth.until_ns = last.ns;
  if (first.step && last.step && *last.step > *first.step) growth.steps = *last.step - *first.step;
  if (const std::optional<std::uint64_t> headroom = last.headroom()) {
    const double rate = static_cast<double>(growth.bytes) / static_cast<double>(last.ns - first.ns);
    growth.left_ns = static_cast<std::uint64_t>(static_cast<double>(*headroom) / rate);
  }
  return growth;
}

}  // namespace memoir
