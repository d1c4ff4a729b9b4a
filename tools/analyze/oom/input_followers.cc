#include "tools/analyze/oom/input_followers.h"

namespace memoir {
namespace {

constexpr double kOtherSize = 1.2;          // smallest ratio of two bursts that count as different in size
constexpr double kGrowth = 1.1;             // a place follows a burst if its bytes change at least by this factor
constexpr std::uint32_t kFewest = 2;        // fewest bursts that the place must follow
constexpr std::uint32_t kSmallestPart = 8;  // the place may fail to follow at most one burst in this many

bool IsTimes(std::uint64_t larger, std::uint64_t smaller, double times) {
  return static_cast<double>(larger) >= times * static_cast<double>(smaller);
}

}  // namespace

void InputFollowers::NoteAllocation(const Block& block, bool is_input) {
  Device& device = devices_[block.device];
  if (is_input && device.burst_ended) EndBurst(device);
  device.burst_ended = !is_input;
  if (is_input) device.input += block.bytes;
  const Place place = PlaceOf(block);
  Sizes& sizes = device.places[place];
  if (sizes.running == 0) device.touched.push_back(place);
  sizes.running += block.bytes;
}

void InputFollowers::EndBurst(Device& device) {
  for (const Place& place : device.touched) {
    Sizes& sizes = device.places[place];
    if (sizes.input == 0) {
      sizes.input = device.input;
      sizes.bytes = sizes.running;
    } else if (IsTimes(device.input, sizes.input, kOtherSize)) {
      ++(IsTimes(sizes.running, sizes.bytes, kGrowth) ? sizes.followed : sizes.differed);
    } else if (IsTimes(sizes.input, device.input, kOtherSize)) {
      ++(IsTimes(sizes.bytes, sizes.running, kGrowth) ? sizes.followed : sizes.differed);
    }
    sizes.running = 0;
  }
  device.touched.clear();
  device.input = 0;
}

bool InputFollowers::Follows(const Block& block) const {
  const auto device = devices_.find(block.device);
  if (device == devices_.end()) return false;
  const auto place = device->second.places.find(PlaceOf(block));
  if (place == device->second.places.end()) return false;
  const Sizes& sizes = place->second;
  return sizes.followed >= kFewest && sizes.differed * kSmallestPart <= sizes.followed + sizes.differed;
}

}  // namespace memoir
