// The part of the builder that knows steps which a chunk names.
#include <iterator>

#include "tests/captures/capture_builder.h"

namespace memoir::testing {

v1::StretchDef StretchOf(std::uint32_t id, const std::vector<StretchEventSpec>& events) {
  v1::StretchDef stretch;
  stretch.set_id(id);
  v1::ThreadRun& run = *stretch.mutable_events();
  std::uint64_t tick = 0;
  std::int64_t address = 0;
  for (const StretchEventSpec& event : events) {
    run.mutable_kind()->push_back(static_cast<char>(event.kind));
    run.add_tick_delta(event.tick - tick);
    tick = event.tick;
    stretch.add_thread(1);
    stretch.add_of_host(event.of_host);
    stretch.add_freed_event(event.freed_event);
    if (event.kind == v1::STEP) run.add_step(0);
    if (event.kind == v1::STACK) run.add_stack(0);
    if (event.kind == v1::STEP || event.kind == v1::STACK) continue;
    run.add_address_delta(static_cast<std::int64_t>(event.address) - address);
    address = static_cast<std::int64_t>(event.address);
    run.add_serial_delta(0);
    run.add_device(event.device);
    if (event.kind == v1::ALLOCATE || event.kind == v1::BLOCK_ALLOCATE) run.add_bytes(event.bytes);
    if (event.kind != v1::BLOCK_ALLOCATE) continue;
    run.add_requested_bytes(event.bytes);
    run.add_stream_delta(0);
  }
  return stretch;
}

ProcessBuilder& ProcessBuilder::Repeat(const v1::StretchDef& stretch, const v1::Repeats& repeats) {
  *payload_.add_stretches() = stretch;
  return Repeat(repeats);
}

ProcessBuilder& ProcessBuilder::Repeat(const v1::Repeats& repeats) {
  info_.set_format_version(2);
  *payload_.mutable_repeats() = repeats;
  std::uint64_t tick = 0;
  for (int i = 0; i < repeats.stretch_size(); ++i) {
    tick += repeats.tick_delta(i) + repeats.ticks(i);
    if (repeats.stretch(i) == 0) continue;
    events_ += repeats.events(i);
    chunk_event_count_ += repeats.events(i);
  }
  tick_ = tick + options_.tick_step;
  return *this;
}

}  // namespace memoir::testing
