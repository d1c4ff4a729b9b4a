// Converts ticks of one process to nanoseconds, with the clock readings in the chunks of the process.
//
// Between two readings the clock interpolates. Before the first and after the last reading, it extrapolates from the
// nearest pair. With a single reading it uses the estimated rate. A later tick never has an earlier time, even in a
// damaged capture.
#ifndef TOOLS_MODEL_EVENT_TICK_CLOCK_H_
#define TOOLS_MODEL_EVENT_TICK_CLOCK_H_

#include <cstdint>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event/ids.h"

namespace memoir {

class TickClock {
 public:
  // `offset_ns` is the time that Nanoseconds returns for the start of the process.
  TickClock(const v1::ProcessInfo& info, std::uint64_t offset_ns);

  // Adds a reading. Ignores a reading that is not later than the last reading. If `ticks_per_second` is known, also
  // ignores a reading less than 10 ms after the last, and a reading whose rate since the last differs by more than 1 %
  // from `ticks_per_second`: it is damaged, or comes from another process or machine.
  void Add(const v1::ClockSync& reading);
  std::uint64_t Nanoseconds(Tick tick) const;

 private:
  struct Reading {
    Tick tick;
    std::uint64_t ns;
  };
  std::size_t FirstOfPair(Tick tick) const;

  std::vector<Reading> readings_;
  double ns_per_tick_ = 1;  // nanoseconds per tick by `ticks_per_second`
  bool has_estimate_ = false;
  std::uint64_t offset_ns_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_TICK_CLOCK_H_
