// How much of a program's time the recording of operators may take (detail=auto): a program whose steps never repeat
// would be recorded in full for ever.
//
//     spent:    segments of the ring filled while operators were recorded, times what one costs
//     allowed:  a share of the time since the recording began, of which the last 20 minutes or so count
//
// Above what is allowed operators go unrecorded, until the share has fallen to nine tenths of it. At first nothing is
// bounded: each program's first steps are new.
//
// What a segment costs is a figure (docs/always_on.md), not measured in the program: that would take clocks in the
// hooks, or steps to compare. For one thread, the writer's: no hook has a part in this.
#ifndef TRACKER_DETAIL_FULL_BUDGET_H_
#define TRACKER_DETAIL_FULL_BUDGET_H_

#include <cstdint>

namespace memoir {

class FullBudget {
 public:
  struct Limits {
    double share = 0.05;
    std::uint64_t unbounded_ns = 60'000'000'000;
  };
  FullBudget(const Limits& limits, std::uint64_t now_ns, std::uint64_t segments)
      : limits_(limits), begin_ns_(now_ns), counted_from_ns_(now_ns), segments_(segments) {}

  // `segments`: filled with operators by now. Whether they are to go unrecorded from here on.
  bool IsSpent(std::uint64_t now_ns, std::uint64_t segments);

 private:
  const Limits limits_;
  const std::uint64_t begin_ns_;
  std::uint64_t counted_from_ns_;
  std::uint64_t segments_;
  double spent_ns_ = 0;
  bool is_spent_ = false;
};

inline constexpr double kNsOfSegment = 200'000;

}  // namespace memoir

#endif  // TRACKER_DETAIL_FULL_BUDGET_H_
