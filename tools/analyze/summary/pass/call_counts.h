// The calls of operators, ranges and modules in the window.
#ifndef TOOLS_ANALYZE_SUMMARY_PASS_CALL_COUNTS_H_
#define TOOLS_ANALYZE_SUMMARY_PASS_CALL_COUNTS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/summary/pass/shared_summary_state.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"

namespace memoir {

struct Calls {
  std::uint64_t count = 0;
  std::uint64_t outermost = 0;  // calls that no other operator (for modules: no other module) contains
};

class CallCounts {
 public:
  explicit CallCounts(SharedSummaryState& shared) : shared_(shared) {}

  void CountRange(const RangeBeginEvent& event);
  void CountModule(const ModuleEvent& event);

  void BeginProcess();
  // Adds evicted calls of the current process. `calls`: all operator calls of the process before a keyframe.
  void AddEvictedCalls(std::uint64_t calls);

  // Returns the calls of a name in the current process so far. Zeros for an invalid name.
  Calls InProcess(NameId name) const;
  const std::vector<Calls>& calls() const { return calls_; }  // by NameId; GroupBy::kModule: by ModuleId

 private:
  SharedSummaryState& shared_;
  std::vector<Calls> calls_;
  // Sums over the processes before the current one.
  std::vector<Calls> calls_before_process_;
  std::uint64_t operator_calls_before_process_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_PASS_CALL_COUNTS_H_
