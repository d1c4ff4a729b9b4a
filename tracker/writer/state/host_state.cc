#include "tracker/writer/state/host_state.h"

#include "tracker/writer/events/capture_fields.h"

namespace memoir {

void AddHostReading(const HostReading& reading, std::uint32_t field, protozero::pbf_writer* message) {
  protozero::pbf_writer to(*message, field);
  if (reading.tick != 0) to.add_uint64(field::host_reading::kTick, reading.tick);
  to.add_enum(field::host_reading::kCause, reading.cause);
  std::uint32_t number = field::host_reading::kAnonymousBytes;  // the first of the fields, which are in order
  for (const std::uint64_t value : reading.numbers) to.add_uint64(number++, value + 1);
}

void HostState::AddReading(const HostReading& reading) {
  if (count_++ == 0) first_ = highest_ = newest_ = reading;
  if (reading.tick >= newest_.tick) newest_ = reading;
  const std::uint64_t bytes = reading.anonymous_bytes(), most = highest_.anonymous_bytes();
  if (bytes != kNotKnown && (most == kNotKnown || bytes > most)) highest_ = reading;
}

std::vector<HostReading> HostState::kept() const {
  std::vector<HostReading> kept;
  if (count_ > 0) kept.push_back(first_);
  if (highest_.tick != first_.tick && highest_.tick != newest_.tick) kept.push_back(highest_);
  if (newest_.tick != first_.tick) kept.push_back(newest_);
  return kept;
}

}  // namespace memoir
