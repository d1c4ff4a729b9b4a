// Counts the calls of outermost modules that have live tensors at an instant.
#ifndef TOOLS_ANALYZE_COMPARE_FACTS_LIVE_CALLS_H_
#define TOOLS_ANALYZE_COMPARE_FACTS_LIVE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

// Numbers the calls of outermost modules in forward, from 1. Needs the events in replay order.
class CallNumbers {
 public:
  void Enter(const ModuleEvent& event);
  void Exit(const ModuleEvent& event);
  void EndProcess() { open_.clear(); }
  // Returns the number of the call that is open on the thread. 0 if no call is open.
  std::size_t OpenOn(ThreadId thread) { return open_[thread]; }

  // Returns the number of calls with live tensors, by full path of the outermost module. Calls with less than a tenth
  // of the largest call's bytes do not count. `bytes`: live bytes by number of the call.
  std::map<std::string, std::size_t> CountLive(const std::map<std::size_t, std::uint64_t>& bytes,
                                               const Dictionary& dictionary) const;

 private:
  std::vector<ModuleId> called_;  // by number of the call, minus 1
  std::map<ThreadId, std::size_t> open_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_FACTS_LIVE_CALLS_H_
