// What was last read of the host's memory: keyframes say it. One thread.
#ifndef TRACKER_WRITER_HOST_STATE_H_
#define TRACKER_WRITER_HOST_STATE_H_

#include <array>
#include <cstdint>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "interpose/ring_record.h"

namespace memoir {

// Numbers as HostReadingRecord has them, in its order.
struct HostReading {
  std::uint64_t tick = 0;
  std::array<std::uint64_t, kHostNumbers> numbers{};
  std::uint8_t cause = 0;

  std::uint64_t anonymous_bytes() const { return numbers[0]; }
};

// Of the message around it.
void AddHostReading(const HostReading& reading, std::uint32_t field, protozero::pbf_writer* message);

class HostState {
 public:
  void Read(const HostReading& reading);
  std::uint64_t count() const { return count_; }
  // The first, the highest and the newest, each once.
  std::vector<HostReading> kept() const;

 private:
  HostReading first_, highest_, newest_;
  std::uint64_t count_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_HOST_STATE_H_
