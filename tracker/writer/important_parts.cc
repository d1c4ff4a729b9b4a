#include "tracker/writer/important_parts.h"

#include <algorithm>
#include <tuple>

namespace memoir {

void ImportantParts::Note(const std::vector<DeviceSums>& devices, std::uint32_t part) {
  if (devices.size() > peaks_.size()) peaks_.resize(devices.size());
  for (std::size_t device = 0; device < devices.size(); ++device) {
    const DeviceSums& sums = devices[device];
    Peak& peak = peaks_[device];
    peak.is_gpu = sums.has_segments;
    if (sums.peak_bytes > peak.bytes) {
      peak.bytes = sums.peak_bytes;
      peak.part = part;
    }
    const bool ran_out = sums.ooms > peak.ooms && part != kNoPart;
    peak.ooms = sums.ooms;
    if (!ran_out || (!errors_.empty() && errors_.front() == part)) continue;
    errors_.push_front(part);
    if (errors_.size() > kMostErrors) errors_.pop_back();
  }
}

std::vector<std::uint32_t> ImportantParts::ListByImportance() const {
  std::vector<Peak> peaks = peaks_;
  std::ranges::stable_sort(peaks, [](const Peak& a, const Peak& b) {
    return std::tuple(a.is_gpu, a.bytes) > std::tuple(b.is_gpu, b.bytes);
  });
  std::erase_if(peaks, [](const Peak& peak) { return peak.part == kNoPart; });
  std::vector<std::uint32_t> parts;
  parts.reserve(peaks.size() + errors_.size());
  for (const Peak& peak : peaks) parts.push_back(peak.part);
  parts.insert(parts.empty() ? parts.end() : parts.begin() + 1, errors_.begin(), errors_.end());
  return parts;
}

}  // namespace memoir
