// Which lines of a program call its models, whether autograd is on in the calls, how often modules are called, and when
// gradients are freed. `memoir diff` compares these facts.
#ifndef TOOLS_ANALYZE_COMPARE_FACTS_CALL_FACTS_H_
#define TOOLS_ANALYZE_COMPARE_FACTS_CALL_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analyze/grouping/source_lines.h"
#include "tools/model/event/event.h"

namespace memoir {

// How often something was called with autograd and without.
struct AutogradCalls {
  std::size_t with_autograd = 0, without_autograd = 0;  // without: under torch.no_grad(), for example
  std::size_t all() const { return with_autograd + without_autograd; }
  void Add(bool has_autograd) { ++(has_autograd ? with_autograd : without_autograd); }
};

// A line that calls an outermost module.
struct Caller {
  SourceLine line;
  AutogradCalls calls;
};

// The calls of one outermost module.
struct ModelCalls {
  std::map<std::string, Caller> callers;             // by ToString() of the line; empty without stacks
  std::map<std::size_t, std::size_t> calls_in_step;  // number of steps, by their number of calls
};

// The calls of one module in forward.
struct ModuleUse {
  Module module;
  AutogradCalls calls;
};

// How a program treats the gradients of the previous step.
struct GradientUse {
  bool freed_before_forward = false;  // zero_grad() after a step, before a model is called
  bool freed_after_forward = false;   // zero_grad() after a model was called
  bool set_to_zero = false;           // zero_grad(set_to_none=False)
};

struct CallFacts {
  std::map<std::string, ModelCalls> models;  // by Module::full_path() of the outermost module
  std::map<std::string, ModuleUse> modules;  // by Module::full_path(); outermost modules and modules inside of them
  GradientUse gradients;                     // all false: no optimizer's zero_grad() between two steps
  std::map<std::string, Module> sparse;      // modules with sparse gradients, by Module::full_path()
  bool has_backward_with_autograd = false;   // backward itself makes a graph (create_graph=True)
  std::size_t steps = 0;                     // steps of optimizers
};

// Collects the facts of the whole recording. Needs ReplayOptions::modules.
class CallFactsPass : public Visitor {
 public:
  explicit CallFactsPass(std::string_view own) : lines_(own) {}
  // Call it after the replay.
  CallFacts Take() { return std::move(facts_); }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  // Repeated steps contain no new facts.
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnProcessBegin(const ProcessEvent&) override;
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;
  void OnEnd(const ReplayReport& report) override;

 private:
  struct OpenCall {
    ModuleId module;
    // For a call of an outermost module: the stack of the first event in the call that has a stack. Such an event is an
    // allocation, or an operator with a sequence number. Invalid: unknown.
    StackId stack;
    bool has_autograd = false;
  };
  void NoteCaller(const OpenCall& call);
  void NoteBackward(const OpenRange& range, std::string_view name);
  void NoteRangeOfOptimizer(std::string_view name);
  SourceLine CallerOf(StackId stack);

  const ReplayState* state_ = nullptr;
  SourceLines lines_;
  CallFacts facts_;
  std::map<ThreadId, std::vector<OpenCall>> open_;  // outermost first
  std::map<ModuleId, AutogradCalls> uses_;          // calls of each module in forward
  std::map<ModuleId, std::size_t> calls_;           // number of calls of each outermost module since the last step
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_FACTS_CALL_FACTS_H_
