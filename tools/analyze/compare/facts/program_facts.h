// Facts about a program other than memory. `memoir diff` compares the facts to find the change of the program that
// caused a difference.
#ifndef TOOLS_ANALYZE_COMPARE_FACTS_PROGRAM_FACTS_H_
#define TOOLS_ANALYZE_COMPARE_FACTS_PROGRAM_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/analyze/compare/facts/call_facts.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/model/capture.h"
#include "tools/model/event/event.h"

namespace memoir {

struct TensorShape {
  std::string dtype;
  std::vector<std::int64_t> sizes;
  std::uint64_t elements() const;  // at most UINT64_MAX
  auto operator<=>(const TensorShape&) const = default;
};
std::string ToString(const TensorShape& shape);          // "float32[32, 128]"
using SizePair = std::pair<std::int64_t, std::int64_t>;  // a size in A and in B
// Returns the sizes that differ, without sizes of 0. Empty if the numbers of dimensions differ.
std::set<SizePair> ChangedSizes(const TensorShape& a, const TensorShape& b);

struct SeenParameter {
  Module module;
  std::string name;  // "weight"
  TensorShape shape;
  std::uint64_t bytes = 0;  // bytes of the parameter's storage
  bool is_trained = false;  // it was listed at least once as requiring a gradient
  std::uint64_t impl = 0;   // address of the TensorImpl; equal for modules that share the parameter
};

// The line and the operator that made a tensor, as text.
using ResultPlace = std::pair<std::string, std::string>;
struct SeenResult {
  TensorShape shape;  // shape of the largest result
  SourceLine line;
  // The places are numbered in the order of their first results, from 1. 0: all results were made in backward or by an
  // optimizer.
  std::uint64_t order = 0;
};

struct ProgramFacts {
  std::vector<SeenParameter> parameters;  // parameters of called modules, with their newest shapes
  // By outermost module: the shapes of its input, and how often each occurred. The input of a call is the first tensor
  // that an operator inside of the call reads, except for parameters, buffers, scalars, leaves that require a gradient,
  // and tensors that the call made itself.
  std::map<std::string, std::map<TensorShape, std::uint64_t>> inputs;
  // The most state tensors of any parameter in an optimizer, without scalars: 2 for Adam. Empty if no tensors of an
  // optimizer were recorded.
  std::optional<std::size_t> states_of_parameter;
  std::set<std::string> optimizers;          // classes of the optimizers that made a step: "AdamW"
  std::map<std::string, Module> recomputed;  // modules whose forward was recomputed for backward, by full path
  std::map<ResultPlace, SeenResult> results;
  CallFacts calls;
};

// Collects the facts of the whole recording. Needs ReplayOptions::tensors and ReplayOptions::modules.
class ProgramFactsPass : public Visitor {
 public:
  explicit ProgramFactsPass(std::string_view own) : lines_(own) {}
  // Call it after the replay.
  ProgramFacts Take() { return std::move(facts_); }

  void OnStart(const ReplayState& state) override { state_ = &state; }
  // Repeated steps contain no new facts.
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnProcessBegin(const ProcessEvent&) override { threads_.clear(); }
  void OnModuleEnter(const ModuleEvent& event) override;
  void OnModuleExit(const ModuleEvent& event) override;
  void OnHolds(const HeldTensorsEvent& event) override;
  void OnRangeBegin(const RangeBeginEvent& event) override;
  void OnRangeEnd(const RangeEndEvent& event) override;
  void OnAllocate(const AllocateEvent& event) override;

 private:
  struct Thread {
    ModuleId holder;  // module of the newest HeldTensorsEvent
    bool is_module = false;
    std::uint32_t listed = 0;                 // number of parameters that the events listed for `holder`
    ModuleId root;                            // open outermost module whose input was not seen yet; or invalid
    absl::flat_hash_set<std::uint64_t> made;  // addresses of the blocks that `root` has allocated
    StackId allocated;  // stack of the newest allocation in the open outermost operator; or invalid
  };
  void NoteParameters(const HeldTensorsEvent& event, Thread& thread);
  void NoteStates(const HeldTensorsEvent& event);
  const TensorShape& ShapeOf(LayoutId layout);
  StackId StackOf(const OpenRange& range, ThreadId thread);

  const ReplayState* state_ = nullptr;
  SourceLines lines_;
  ProgramFacts facts_;
  std::map<ThreadId, Thread> threads_;
  std::map<std::pair<ModuleId, std::string>, std::size_t> parameters_;  // index in facts_.parameters
  absl::flat_hash_set<std::uint64_t> held_;                             // TensorImpls of parameters and buffers
  absl::flat_hash_map<LayoutId, TensorShape> shapes_;
  absl::flat_hash_set<std::pair<std::pair<StackId, NameId>, LayoutId>> seen_results_;
  absl::flat_hash_set<ModuleId> recomputed_;
  std::uint64_t results_ = 0;  // the newest SeenResult::order
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_FACTS_PROGRAM_FACTS_H_
