// Keeps the host samples that keyframes contain. One thread.
#ifndef TRACKER_WRITER_STATE_HOST_STATE_H_
#define TRACKER_WRITER_STATE_HOST_STATE_H_

#include <array>
#include <cstdint>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "interpose/records/ring_record.h"

namespace memoir {

// A sample of the memory of the process and its machine, with the numbers of a HostReadingRecord in the same order.
struct HostReading {
  std::uint64_t tick = 0;
  std::array<std::uint64_t, kHostNumbers> numbers{};
  std::uint8_t cause = 0;

  std::uint64_t anonymous_bytes() const { return numbers[0]; }
};

// Adds the sample as the field `field` of `message`.
void AddHostReading(const HostReading& reading, std::uint32_t field, protozero::pbf_writer* message);

class HostState {
 public:
  void AddReading(const HostReading& reading);
  std::uint64_t count() const { return count_; }
  // Returns the first sample, the sample with the most anonymous memory, and the newest sample. A sample that is two of
  // these is returned once.
  std::vector<HostReading> kept() const;

 private:
  HostReading first_, highest_, newest_;
  std::uint64_t count_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_HOST_STATE_H_
