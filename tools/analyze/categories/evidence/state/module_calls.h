// The calls of modules that are open, and the numbers of calls so far. Calls are numbered from 1.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_MODULE_CALLS_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_MODULE_CALLS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/categories/evidence/state/thread_table.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"

namespace memoir {

// The open calls of one thread.
struct OpenModuleCalls {
  std::vector<std::uint64_t> module_calls;  // running numbers of the open module calls, outermost first
  std::uint64_t model_call = 0;             // number of the open call of an outermost module; 0: no open call
  ModuleId model;                           // the module of model_call

  std::uint64_t innermost() const { return module_calls.empty() ? 0 : module_calls.back(); }
  bool Contains(std::uint64_t module_call) const;
};

class ModuleCalls {
 public:
  void Enter(const ModuleEvent& event);
  void Exit(const ModuleEvent& event);

  const OpenModuleCalls& OpenIn(ThreadId thread) { return threads_.Of(thread); }
  std::uint64_t module_calls() const { return module_calls_; }
  std::uint64_t model_calls() const { return model_calls_; }
  void EndProcess();

 private:
  ThreadTable<OpenModuleCalls> threads_;
  std::uint64_t module_calls_ = 0;  // calls in all processes so far, so that two calls never have the same number
  std::uint64_t model_calls_ = 0;   // calls of outermost modules in the current process
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_MODULE_CALLS_H_
