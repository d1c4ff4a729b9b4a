#include "tools/import/snapshot/snapshot_settings.h"

#include <bit>
#include <span>
#include <string>

#include "absl/strings/numbers.h"

namespace memoir {

using namespace snapshot;

TorchSnapshot::Settings SettingsOf(const Fields& fields, const PickleHeap& heap) {
  TorchSnapshot::Settings settings;
  const std::int64_t split = heap.Integer(fields[k_max_split_size]);
  if (split > 0) settings.max_split_bytes = static_cast<std::uint64_t>(split);
  settings.expandable_segments = heap.Integer(fields[k_expandable_segments]) != 0;
  const std::span<const PickleValue> divisions = heap.Items(fields[k_roundup_power2_divisions]);
  for (std::size_t i = 0; i + 1 < divisions.size(); i += 2) {
    std::uint64_t mib = 0;
    if (!divisions[i].is(PickleValue::Kind::kText)) continue;
    if (!absl::SimpleAtoi(std::string(heap.text(static_cast<std::uint32_t>(divisions[i].data()))), &mib) ||
        !std::has_single_bit(mib))
      continue;
    const auto at = static_cast<std::size_t>(std::countr_zero(mib));
    if (at < settings.roundup_divisions.size())
      settings.roundup_divisions[at] = static_cast<std::uint64_t>(heap.Integer(divisions[i + 1]));
  }
  return settings;
}

}  // namespace memoir
