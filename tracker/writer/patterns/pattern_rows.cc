#include "tracker/writer/patterns/pattern_rows.h"

#include <algorithm>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {

void PatternRows::Add(std::uint32_t pattern, std::uint32_t event, std::uint64_t step, std::uint64_t tick) {
  if (open_.events == 0 || open_.pattern != pattern || open_.step != step) {
    CloseRow();
    open_ = {.pattern = pattern, .first_event = event, .first_tick = tick, .last_tick = tick, .step = step};
  }
  ++open_.events;
  open_.last_tick = std::max(open_.last_tick, tick);
}

bool PatternRows::FitsSerial(std::uint32_t device, std::uint64_t serial) const {
  const auto known = std::ranges::find(open_serials_, device, &DeviceSerials::device);
  return known == open_serials_.end() || known->next == serial;
}

void PatternRows::PutSerial(std::uint32_t device, std::uint64_t serial) {
  const auto known = std::ranges::find(open_serials_, device, &DeviceSerials::device);
  if (known == open_serials_.end()) {
    open_serials_.push_back({device, serial, serial + 1});
  } else {
    known->next = serial + 1;
  }
}

void PatternRows::CloseRow() {
  if (open_.events == 0) return;
  if (rows_ == 0) last_step_ = open_.step;  // readers count steps from the first step of the chunk
  Put(open_);
  events_ += open_.events;
  if (open_.has_step_number) {
    step_number_.PutDelta(open_.step_number, last_step_number_);
    last_step_number_ = open_.step_number;
  }
  for (const DeviceSerials& serials : open_serials_) {
    const auto before = std::ranges::find(last_serials_, serials.device, &DeviceSerials::device);
    serial_delta_.PutDelta(serials.first, before == last_serials_.end() ? 0 : before->next);
    if (before == last_serials_.end()) {
      last_serials_.push_back(serials);
    } else {
      *before = serials;
    }
  }
  open_serials_.clear();
  open_ = {};
}

// Adds an address row, which lists the addresses of live blocks (pattern_matcher.h). Both of its ticks equal the last
// tick of the previous row.
void PatternRows::AddAddressRow(std::uint32_t addresses) {
  CloseRow();
  Put({.events = addresses, .first_tick = last_tick_, .last_tick = last_tick_, .step = last_step_});
}

void PatternRows::Put(const OpenRow& row) {
  ++rows_;
  pattern_.Put(row.pattern);
  first_event_.Put(row.first_event);
  any_first_event_ = any_first_event_ || row.first_event != 0;
  row_events_.Put(row.events);
  tick_delta_.Put(row.first_tick - last_tick_);
  ticks_.Put(row.last_tick - row.first_tick);
  step_delta_.Put(row.step - last_step_);
  last_tick_ = row.last_tick;
  last_step_ = row.step;
}

void PatternRows::AddTo(std::string* payload) const {
  if (rows_ == 0) return;
  namespace fields = field::repeats;
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer repeats(message, field::payload::kRepeats);
  pattern_.AddTo(repeats, fields::kStretch);
  if (any_first_event_) first_event_.AddTo(repeats, fields::kFirstEvent);
  row_events_.AddTo(repeats, fields::kEvents);
  tick_delta_.AddTo(repeats, fields::kTickDelta);
  ticks_.AddTo(repeats, fields::kTicks);
  step_delta_.AddTo(repeats, fields::kStepDelta);
  step_number_.AddTo(repeats, fields::kStepNumber);
  address_delta_.AddTo(repeats, fields::kAddressDelta);
  living_serial_.AddTo(repeats, fields::kLivingSerial);
  serial_delta_.AddTo(repeats, fields::kSerialDelta);
}

void PatternRows::Clear() {
  open_ = {};
  open_serials_.clear();
  last_serials_.clear();
  rows_ = 0;
  events_ = 0;
  any_first_event_ = false;
  last_tick_ = last_step_ = last_step_number_ = last_address_ = last_living_serial_ = 0;
  for (VarintColumn* column : {&pattern_, &first_event_, &row_events_, &tick_delta_, &ticks_, &step_delta_,
                               &step_number_, &serial_delta_, &address_delta_, &living_serial_}) {
    column->clear();
  }
}

}  // namespace memoir
