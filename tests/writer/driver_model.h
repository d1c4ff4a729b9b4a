// The driver's state that keyframes must have, computed by the test from the events before, in order.
#ifndef TESTS_WRITER_DRIVER_MODEL_H_
#define TESTS_WRITER_DRIVER_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tests/writer/event_model.h"

namespace memoir::test {

struct DriverModel {
  using Where = std::pair<DeviceName, std::uint64_t>;
  using Block = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::string>;
  using Reading = std::tuple<DeviceName, std::uint64_t, std::uint32_t, std::vector<std::uint64_t>>;

  void Apply(const Event& event) {
    if (event.kind == memoir::v1::DRIVER_ALLOCATE) {
      live[{event.device, event.address}] = {event.bytes, event.serial, event.tick, event.driver_call, event.library};
    } else if (event.kind == memoir::v1::DRIVER_FREE) {
      live.erase({event.device, event.address});
    } else if (event.kind == memoir::v1::DEVICE_READING) {
      all_readings[event.device].push_back({event.device, event.tick, event.reading_cause, event.reading});
    }
  }

  // For each device the first reading, the first one with the least free memory, the newest.
  std::set<Reading> Readings() const {
    std::set<Reading> kept;
    for (const auto& [device, readings] : all_readings) {
      const Reading* least = &readings.front();
      for (const Reading& reading : readings) {
        if (std::get<3>(reading)[0] < std::get<3>(*least)[0]) least = &reading;
      }
      kept.insert({readings.front(), *least, readings.back()});
    }
    return kept;
  }

  std::map<Where, Block> live;
  std::map<DeviceName, std::vector<Reading>> all_readings;
};

using NameOfId = std::function<std::string(std::uint32_t)>;
using DeviceOfId = std::function<DeviceName(std::uint32_t)>;

inline std::map<DriverModel::Where, DriverModel::Block> DriverBlocksOf(const memoir::v1::Keyframe& frame,
                                                                       const NameOfId& name, const DeviceOfId& device) {
  const memoir::v1::DriverBlocks& blocks = frame.driver();
  std::map<DriverModel::Where, DriverModel::Block> live;
  std::uint64_t address = 0, serial = 0, tick = 0;
  for (int i = 0; i < blocks.bytes_size(); ++i) {
    address += static_cast<std::uint64_t>(blocks.address_delta(i));
    serial += static_cast<std::uint64_t>(blocks.serial_delta(i));
    tick += static_cast<std::uint64_t>(blocks.tick_delta(i));
    live[{device(blocks.device(i)), address}] = {blocks.bytes(i), serial, tick, blocks.driver_call(i),
                                                 name(blocks.library(i))};
  }
  return live;
}

// As a multiset would: none may stand there twice.
inline std::vector<DriverModel::Reading> ReadingsOf(const memoir::v1::Keyframe& frame, const DeviceOfId& device) {
  std::vector<DriverModel::Reading> readings;
  for (const memoir::v1::DeviceReading& at : frame.readings()) {
    const std::vector<std::uint64_t> numbers = {at.free_bytes() - 1, at.total_bytes() - 1, at.process_bytes() - 1,
                                                at.other_processes_bytes() - 1, at.pool_bytes() - 1};
    readings.emplace_back(device(at.device()), at.tick(), static_cast<std::uint32_t>(at.cause()), numbers);
  }
  return readings;
}

}  // namespace memoir::test

#endif  // TESTS_WRITER_DRIVER_MODEL_H_
