#include "tools/analyze/host/host_instant.h"

#include <algorithm>

namespace memoir {
namespace {

std::int64_t Signed(std::optional<std::uint64_t> bytes) { return static_cast<std::int64_t>(bytes.value_or(0)); }

// Compares each instant with each later instant. Returns the share of these pairs whose later instant has more resident
// bytes: 1 for steady growth, about 0.5 for noise.
double ShareThatRises(const std::vector<HostInstant>& instants) {
  std::size_t rises = 0, pairs = 0;
  for (std::size_t i = 0; i < instants.size(); ++i) {
    for (std::size_t j = i + 1; j < instants.size(); ++j, ++pairs)
      if (instants[j].resident() > instants[i].resident()) ++rises;
  }
  return pairs == 0 ? 0 : static_cast<double>(rises) / static_cast<double>(pairs);
}

// Returns at most kMost + 1 instants from `since_ns` on, evenly spaced in time, including the last instant.
std::vector<HostInstant> SpacedInstants(const std::vector<HostInstant>& instants, std::uint64_t since_ns) {
  constexpr std::size_t kMost = 64;
  std::vector<HostInstant> spaced;
  const std::uint64_t until_ns = instants.back().ns;
  std::uint64_t next_ns = since_ns;
  for (const HostInstant& instant : instants) {
    if (instant.ns < next_ns) continue;
    spaced.push_back(instant);
    next_ns = instant.ns + (until_ns - since_ns) / kMost;
  }
  if (spaced.back().ns != until_ns) spaced.push_back(instants.back());
  return spaced;
}

}  // namespace

std::string_view ToString(HostPart part) {
  static constexpr std::array<std::string_view, kHostParts> kNames = {"tensors", "pinned", "malloc", "malloc_free",
                                                                      "other",   "shared", "files",  "untouched"};
  return kNames[static_cast<std::size_t>(part)];
}

std::optional<std::uint64_t> HostInstant::limit() const {
  return numbers.group_limit_bytes ? numbers.group_limit_bytes : numbers.machine_bytes;
}

std::optional<std::uint64_t> HostInstant::headroom() const {
  if (!numbers.group_limit_bytes || !numbers.group_used_bytes) return numbers.machine_available_bytes;
  // Subtracts pages of files, because the kernel reclaims them before the out-of-memory killer acts.
  const std::uint64_t used =
      *numbers.group_used_bytes - std::min(*numbers.group_used_bytes, numbers.group_reclaimable_bytes.value_or(0));
  return *numbers.group_limit_bytes - std::min(*numbers.group_limit_bytes, used);
}

HostInstant DivideHost(const HostNumbers& numbers, std::uint64_t tensors, std::uint64_t pinned) {
  HostInstant instant;
  instant.numbers = numbers;
  instant[HostPart::kTensors] = static_cast<std::int64_t>(tensors);
  instant[HostPart::kPinned] = static_cast<std::int64_t>(pinned);
  instant[HostPart::kMallocFree] = Signed(numbers.malloc_free_bytes);
  // malloc's used bytes include the tensors, so the tensors are subtracted. Pinned blocks are not subtracted, because
  // large pinned blocks may not come from malloc.
  instant[HostPart::kMalloc] =
      std::max<std::int64_t>(0, Signed(numbers.malloc_used_bytes) - instant[HostPart::kTensors]);
  instant[HostPart::kShared] = Signed(numbers.shared_bytes);
  instant[HostPart::kFiles] = Signed(numbers.file_bytes);
  std::int64_t named = 0;
  for (const HostPart part : {HostPart::kTensors, HostPart::kPinned, HostPart::kMalloc, HostPart::kMallocFree})
    named += instant[part];
  const std::int64_t rest = Signed(numbers.anonymous_bytes) - named;
  instant[rest < 0 ? HostPart::kUntouched : HostPart::kOther] = rest;
  return instant;
}

std::optional<HostGrowth> GrowthOf(const std::vector<HostInstant>& instants) {
  constexpr std::size_t kFewest = 6;
  constexpr double kRises = 0.85;
  constexpr std::int64_t kSmallest = 64 << 20;
  constexpr std::int64_t kShare = 20;  // least growth: a twentieth of the resident bytes before the growth
  if (instants.size() < kFewest) return std::nullopt;
  // The first third of the time does not count, because programs load data and fill caches in it.
  const std::uint64_t since_ns = instants.front().ns + (instants.back().ns - instants.front().ns) / 3;
  const std::vector<HostInstant> late = SpacedInstants(instants, since_ns);
  const HostInstant &first = late.front(), &last = late.back();
  HostGrowth growth;
  growth.bytes = static_cast<std::int64_t>(last.resident()) - static_cast<std::int64_t>(first.resident());
  if (late.size() < kFewest / 2 || growth.bytes < kSmallest ||
      growth.bytes < static_cast<std::int64_t>(first.resident()) / kShare || ShareThatRises(late) < kRises)
    return std::nullopt;
  // The growth must continue in the last third of the remaining time.
  const auto third = std::ranges::find_if(
      late, [&](const HostInstant& instant) { return instant.ns >= last.ns - (last.ns - first.ns) / 3; });
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
