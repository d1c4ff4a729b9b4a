// Ticks of one process to nanoseconds, by the readings of all clocks that its chunks carry.
//
// Between two readings it interpolates, outside it goes on with the nearest pair, or with the rate estimate when there
// is only one. Never backward: a later tick is never given an earlier time, whatever a damaged capture says.
#ifndef TOOLS_MODEL_CLOCK_H_
#define TOOLS_MODEL_CLOCK_H_

#include <cstdint>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/model/ids.h"

namespace memoir {

class Clock {
 public:
  // `offset_ns`: what the process's start is to be.
  Clock(const v1::ProcessInfo& info, std::uint64_t offset_ns);

  // Left out: readings that go backward, and those that with the last one would make a slope of their own: too close to
  // it, or more than 1 % off `ticks_per_second`. They are damaged, of another process or machine, or torn.
  void Add(const v1::ClockSync& reading);
  std::uint64_t Nanoseconds(Tick tick) const;

 private:
  struct Reading {
    Tick tick;
    std::uint64_t ns;
  };
  std::size_t FirstOfPair(Tick tick) const;

  std::vector<Reading> readings_;
  double ns_per_tick_ = 1;  // of the estimate
  bool has_estimate_ = false;
  std::uint64_t offset_ns_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_CLOCK_H_
