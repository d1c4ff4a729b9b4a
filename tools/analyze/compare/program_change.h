// A change between A's program and B's program (program_changes.h).
#ifndef TOOLS_ANALYZE_COMPARE_PROGRAM_CHANGE_H_
#define TOOLS_ANALYZE_COMPARE_PROGRAM_CHANGE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analyze/compare/match/module_names.h"
#include "tools/analyze/grouping/source_lines.h"

namespace memoir {

struct ProgramChange {
  enum class Kind : std::uint8_t {
    kNewModules,      // modules that only B has
    kGoneModules,     // modules that only A has
    kLayers,          // another number of alike layers
    kNewParameters,   // parameters that only B has, of modules with parameters in both
    kGoneParameters,  // parameters that only A has, of modules with parameters in both
    kShared,          // parameters that only in B are the same tensor, such as tied embeddings
    kUnshared,        // parameters that only in A are the same tensor
    kSizes,           // another size in the shape of parameters
    kParameterType,   // another data type of parameters
    kResultType,      // another data type of convolutions and matrix products
    kTrained,         // parameters that only B trains
    kFrozen,          // parameters that only A trains
    kInputs,          // another shape of the outermost module's input
    kOptimizer,       // another class of optimizers
    kOptimizerState,  // another number of state tensors for each parameter, with the same class of optimizers
    kCheckpointed,    // modules that only B recomputes for backward
    kKept,            // modules that only A recomputes for backward
    kAutogradOn,      // a call of a model, or backward, for which autograd is on in B and off in A
    kAutogradOff,     // a call of a model, or backward, for which autograd is off in B and on in A
    kNewCall,         // a line that calls a model only in B; both A and B have the model
    kGoneCall,        // a line that calls a model only in A; both A and B have the model
    kCallsInStep,     // another number of calls of a model in each step
    kCallsInCall,     // another number of calls of a module in each call of its outermost module
    kGradients,       // gradients are freed at another point or not at all, or they are sparse in one of A and B
    // Entries of ComparedDevice::causes only:
    kLiveCalls,     // another number of calls of a model that have live tensors
    kEarlierSteps,  // more or fewer bytes live from before the step
    kOperator,      // a line runs another operator
    kFirstShape,    // the first tensor of the program with another shape
  };
  Kind kind = Kind::kNewModules;
  std::string where = {};      // names of the modules or parameters, or the module with the input; may be empty
  std::string a = {}, b = {};  // values in A and in B: "128" and "256", "bfloat16" and "float32"; may be empty
  std::size_t count = 0;       // number of parameters, lines or modules with this change
  double factor = 1;  // kInputs and kFirstShape: B's number of elements divided by A's; kSizes: B's size divided by A's
  std::string dimension = {};  // kInputs: "batch" or "sequence" if only this dimension changed
  std::int64_t bytes = 0;  // difference in bytes, B minus A, of the changed parameters or of tensors of earlier steps
  // kSizes and kInputs: the sizes that differ, in A and in B.
  std::set<std::pair<std::int64_t, std::int64_t>> sizes = {};
  std::vector<CommonModule> modules = {};  // kNewModules and kGoneModules
  // kAutogradOn, kAutogradOff, kNewCall and kGoneCall: the line that calls a model; not known for modules inside of a
  // model. kOperator and kFirstShape: the line that made a tensor.
  SourceLine source = {};

  // True if `where` is a module inside of a model.
  bool is_inside_of_model() const { return where.find('.') != std::string::npos; }
};
std::string_view ToString(ProgramChange::Kind kind);  // "new_modules", ...

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_PROGRAM_CHANGE_H_
