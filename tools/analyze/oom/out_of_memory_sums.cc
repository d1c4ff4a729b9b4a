#include "tools/analyze/oom/out_of_memory_sums.h"

#include <algorithm>
#include <limits>

namespace memoir {
namespace {

constexpr std::uint64_t kWorthReporting = std::uint64_t{64} << 20;

}  // namespace

std::uint64_t UnaccountedBytes(const OutOfMemory& error) {
  const bool no_cache = error.reserved_bytes == 0 && error.allocated_bytes > 0;
  if (!error.outside || !error.device_total || !error.device_free_known || no_cache) return 0;
  std::uint64_t known = error.device_free + error.reserved_bytes + error.other_processes.value_or(0);
  for (const HoldingRow& holder : *error.outside) known += holder.bytes;
  const std::uint64_t unknown = *error.device_total - std::min(known, *error.device_total);
  return unknown >= std::max(kWorthReporting, *error.device_total / 100) ? unknown : 0;
}

std::uint64_t UsableBytes(const OutOfMemory& error) {
  const std::uint64_t limit = error.device_limit.value_or(std::numeric_limits<std::uint64_t>::max());
  const std::uint64_t allowed = limit - std::min(limit, error.reserved_bytes);
  return error.allocated_bytes + std::min(error.device_free, allowed);
}

}  // namespace memoir
