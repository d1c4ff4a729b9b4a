#include "tools/analyze/time/wider_buckets.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace memoir {
namespace {

// Returns the index of the maximum in each group of buckets that are merged.
std::vector<std::size_t> PlacesOfMost(const std::vector<std::uint64_t>& bytes, std::size_t buckets) {
  const std::size_t width = bytes.size() / buckets;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < buckets; ++i) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i * width);
    places.push_back(
        static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(width)) - bytes.begin()));
  }
  return places;
}

void Keep(const std::vector<std::size_t>& places, std::vector<std::uint64_t>& bytes) {
  std::vector<std::uint64_t> kept;
  for (const std::size_t place : places) kept.push_back(bytes[place]);
  bytes = std::move(kept);
}

void Widen(std::size_t buckets, LevelCurve& level) {
  if (!level.max_bytes.empty()) Keep(PlacesOfMost(level.max_bytes, buckets), level.max_bytes);
}

void Widen(std::size_t buckets, DeviceCurve& device) {
  const std::vector<std::size_t> places = PlacesOfMost(device.allocated.max_bytes, buckets);
  for (CategoryCurve& curve : device.categories) Keep(places, curve.bytes);
  for (LevelCurve* level : {&device.allocated, &device.active, &device.reserved}) Widen(buckets, *level);
  for (std::vector<bool>* marks : {&device.known, &device.changes}) {
    std::vector<bool> wide(buckets);
    const std::size_t width = marks->size() / buckets;
    for (std::size_t i = 0; i < marks->size(); ++i) wide[i / width] = wide[i / width] || (*marks)[i];
    *marks = std::move(wide);
  }
}

}  // namespace

OverTimeCurves WithBuckets(OverTimeCurves over_time, std::size_t buckets) {
  for (DeviceCurve& device : over_time.devices) {
    if (device.allocated.max_bytes.size() != buckets) Widen(buckets, device);
  }
  return over_time;
}

}  // namespace memoir
