// Rows of repeated steps for captures that a test builds.
#ifndef TESTS_MODEL_REPEATED_ROWS_H_
#define TESTS_MODEL_REPEATED_ROWS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"

namespace memoir::testing {

// A step's event, a block that outlives the step, one that does not, and the free of the first of the step before.
inline v1::StretchDef Stretch(std::uint32_t id = 7, std::uint64_t bytes = 64) {
  return StretchOf(id, {{.kind = v1::STEP},
                        {.kind = v1::ALLOCATE, .tick = 10, .bytes = bytes, .of_host = 1},
                        {.kind = v1::ALLOCATE, .tick = 20, .bytes = 8, .of_host = 1},
                        {.kind = v1::DEALLOCATE, .tick = 30, .of_host = 3, .freed_event = 1},
                        {.kind = v1::DEALLOCATE, .tick = 40, .of_host = 2, .freed_event = 2}});
}

struct PatternRowSpec {
  std::uint32_t stretch, first_event, events;
  std::uint64_t tick_delta, ticks;
  std::uint32_t step_delta;
};
inline v1::Repeats RepeatsOf(const std::vector<PatternRowSpec>& rows, const std::vector<std::int64_t>& address_deltas) {
  v1::Repeats repeats;
  std::int64_t serial = 1000;
  for (const PatternRowSpec& row : rows) {
    repeats.add_stretch(row.stretch);
    repeats.add_first_event(row.first_event);
    repeats.add_events(row.events);
    repeats.add_tick_delta(row.tick_delta);
    repeats.add_ticks(row.ticks);
    repeats.add_step_delta(row.step_delta);
    for (std::uint32_t i = 0; row.stretch == 0 && i < row.events; ++i)
      repeats.add_living_serial(std::exchange(serial, 1));
    if (row.stretch != 0 && row.first_event == 0) repeats.add_step_number(repeats.step_number_size() == 0 ? 40 : 1);
  }
  for (const std::int64_t delta : address_deltas) repeats.add_address_delta(delta);
  return repeats;
}

// The visitor's result for the process.
template <class OfVisitor>
std::pair<OfVisitor, ReplayReport> Visit(ProcessBuilder& process) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const auto capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  OfVisitor visitor;
  const auto report = capture->Replay(visitor, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return {visitor, *report};
}

}  // namespace memoir::testing

#endif  // TESTS_MODEL_REPEATED_ROWS_H_
