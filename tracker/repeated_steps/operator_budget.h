// Limits the share of a program's time that the recording of operators may take (detail=auto). Without a limit, a
// program whose steps never repeat would be recorded in full for ever.
//
//     spent:    number of ring extents filled while operators were recorded, times the cost of one ring extent
//     allowed:  a share of the recording's time, of which only about the last 20 minutes count
//
// When more time is spent than allowed, operators are no longer recorded until the spent time is below nine tenths of
// the allowed time. The first minute has no limit, because the first steps of each program are new.
//
// The cost of a ring extent is a constant (docs/decisions/0027-repeated-steps.md). To measure it in the program, hooks
// would have to read clocks, or steps with and without operators would have to be compared. Only the writer's thread
// calls this class.
#ifndef TRACKER_REPEATED_STEPS_OPERATOR_BUDGET_H_
#define TRACKER_REPEATED_STEPS_OPERATOR_BUDGET_H_

#include <cstdint>

namespace memoir {

class OperatorBudget {
 public:
  struct Limits {
    double share = 0.05;                          // share of the recording's time that operators may take
    std::uint64_t unbounded_ns = 60'000'000'000;  // time after the recording's start in which there is no limit
  };
  OperatorBudget(const Limits& limits, std::uint64_t now_ns, std::uint64_t extents)
      : limits_(limits), begin_ns_(now_ns), counted_from_ns_(now_ns), extents_(extents) {}

  // `extents`: number of ring extents that were filled so far while operators were recorded. Returns true if operators
  // must not be recorded until a later call returns false.
  bool IsSpent(std::uint64_t now_ns, std::uint64_t extents);

 private:
  const Limits limits_;
  const std::uint64_t begin_ns_;
  std::uint64_t counted_from_ns_;
  std::uint64_t extents_;
  double spent_ns_ = 0;
  bool is_spent_ = false;
};

inline constexpr double kNsPerExtent = 200'000;  // time that the program spends to fill one ring extent

}  // namespace memoir

#endif  // TRACKER_REPEATED_STEPS_OPERATOR_BUDGET_H_
