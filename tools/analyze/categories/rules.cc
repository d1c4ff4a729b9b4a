#include "tools/analyze/categories/rules.h"

#include <iterator>

namespace memoir {
namespace {

using enum Sign;

// Where no operator was seen, nobody knows whether a module ran.
bool MadeOutside(const Evidence& block) { return block.phase == Phase::kOther && !block.unseen; }
bool ComputedInForward(const Evidence& block) { return block.phase == Phase::kForward || block.phase == Phase::kOther; }

// Held by somebody: these are facts, not conclusions.

bool HeldByModule(const Evidence& block) { return block.Has(kModuleParameter); }
bool HeldByOptimizer(const Evidence& block) { return block.Has(kOptimizedParameter); }

// A leaf that nobody holds is a parameter that a program updates by hand when it gets gradients again and again, or
// when there are no modules and optimizers at all. Else it is an input whose gradient is wanted. What a module computed
// and activation checkpointing made a leaf of is neither.
bool LeafWithGradients(const Evidence& block) {
  const bool leaf = block.Has(kLeaf) || block.Has(kWantsGradient);
  const bool initialised = block.Has(kLeftLive) && block.Has(kInitialised);  // nobody had the time to hold it
  return leaf && block.phase == Phase::kOther && (block.Has(kLeafAgain) || !block.trains || initialised);
}
// As lazy modules make them at their first call: nobody says that a module holds it before it is called again.
bool LeafOfForward(const Evidence& block) {
  const bool kept = block.Has(kOutlivedModel) || block.Has(kLeftLive);
  return block.Has(kWantsGradient) && block.phase == Phase::kForward && kept && !block.Has(kDerived);
}
bool MovedParameter(const Evidence& block) { return block.Has(kMovedParameter); }
// Also where a module has it in the place of its own part for as long (FSDP).
bool GatheredParameter(const Evidence& block) { return block.Has(kGathered); }
// An average of a model's past, or what is to be compared with later: copied outside of modules, and of no backward.
bool CopyOfParameter(const Evidence& block) {
  return MadeOutside(block) && block.Has(kCopiesParameter) && block.Has(kOutlivedOperator) &&
         !block.Has(kReadInBackward) && !block.Has(kFreedInBackward) && !block.Has(kNodeArgument);
}
bool BufferOfModule(const Evidence& block) { return block.Has(kModuleBuffer); }
bool GradientOfParameter(const Evidence& block) { return block.Has(kParameterGradient); }
bool StateOfOptimizer(const Evidence& block) { return block.Has(kOptimizerState); }
bool KeptByStep(const Evidence& block) { return block.phase == Phase::kOptimizer && block.Has(kOutlivedStep); }

// Where a recording ends before an optimizer has made a step.
bool StateToCome(const Evidence& block) { return MadeOutside(block) && block.Has(kLeftLive) && block.Has(kLikeLeaf); }

// DDP makes its buckets before the first gradient, and anew after it. A hook of communication may reduce something else
// in their place, such as a copy in half precision.
bool BucketOfViews(const Evidence& block) { return ComputedInForward(block) && block.Has(kCutLikeLeaves); }

// Gradients on their way between ranks.
bool ReducedBucket(const Evidence& block) { return block.Has(kReduced); }
bool ScatteredGradient(const Evidence& block) { return block.Has(kScattered); }

// What comes from outside.
bool LoadedInput(const Evidence& block) { return block.Has(kLoaded); }
bool LeafInput(const Evidence& block) {
  return (block.Has(kLeaf) || block.Has(kWantsGradient)) && MadeOutside(block) && !block.Has(kDerived);
}
bool ProgramInput(const Evidence& block) {
  return MadeOutside(block) && !block.found && !block.compiled && block.Has(kTensor) && block.Has(kOutlivedOperator) &&
         !block.Has(kDerived) && !block.Has(kDifferentiable) && !block.Has(kCarried);
}

// A snapshot does not show who reads it. What lives between two operators of forward is mostly saved for backward.
bool LiveInSnapshot(const Evidence& block) {
  return block.in_snapshot && (block.phase == Phase::kForward || block.phase == Phase::kRecompute);
}

// Kept for backward.
bool CastParameter(const Evidence& block) { return block.Has(kCastParameter) && block.phase == Phase::kForward; }
// cuBLAS keeps one for each stream, taken from torch's allocator.
bool Workspace(const Evidence& block) {
  return !block.Has(kTensor) && block.Has(kOutlivedOperator) && !block.found && !block.Has(kFreedInBackward) &&
         block.Has(kInOperator);
}
// What torch.compile made while it worked is none of the model's, whoever reads it.
bool Autotuning(const Evidence& block) { return block.phase == Phase::kCompile && block.Has(kTuning); }
bool MadeWhileCompiling(const Evidence& block) { return block.phase == Phase::kCompile; }
// Where the recording ended before its node ran.
bool StillAwaits(const Evidence& block) {
  return block.Has(kLeftLive) && block.Has(kPending) && !block.Has(kDifferentiable) && !block.Has(kPassedOver);
}
bool Recomputed(const Evidence& block) {
  return block.phase == Phase::kRecompute && (block.Has(kReadInBackward) || StillAwaits(block));
}
bool SavedInBackward(const Evidence& block) {
  return block.phase == Phase::kBackward &&
         (((block.Has(kDifferentiable) || block.Has(kSaved)) && block.Has(kReadInBackward)) || StillAwaits(block));
}
bool GraphRetained(const Evidence& block) {
  return ComputedInForward(block) && block.Has(kRetained) && !block.Has(kFreedInBackward);
}
bool SavedForBackward(const Evidence& block) {
  return ComputedInForward(block) && block.Has(kReadInBackward) && !block.Has(kNodeArgument);
}
bool ReleasedByBackward(const Evidence& block) {
  return ComputedInForward(block) && block.Has(kFreedInBackward) && !block.Has(kNodeArgument);
}
// Kept by a node that ran for the gradients of other tensors.
bool SavedUnread(const Evidence& block) { return ComputedInForward(block) && block.Has(kSaved); }
bool AwaitsBackward(const Evidence& block) { return ComputedInForward(block) && StillAwaits(block); }

// Of a graph that backward went through what is gone before was of no use to it.
bool GraphDropped(const Evidence& block) {
  return block.phase == Phase::kForward && block.Has(kOutlivedModel) && block.Has(kGradMode) && block.Has(kPending) &&
         !block.Has(kDifferentiable);
}

// What a call of modules made or wrote and the same one, or several others, read again. What backward needs is above.
bool CarriedBetweenCalls(const Evidence& block) { return ComputedInForward(block) && block.Has(kCarried); }

// The rest of backward.
bool GradientToCome(const Evidence& block) {
  return block.phase == Phase::kBackward && block.Has(kLeftLive) && block.Has(kToLeaf);
}
bool GradientAskedFor(const Evidence& block) {
  return block.phase == Phase::kBackward && block.Has(kOutlivedNode) && block.Has(kReadOutside);
}
bool FlowsThroughBackward(const Evidence& block) {
  return block.Has(kNodeArgument) || (block.phase == Phase::kBackward && block.Has(kOutlivedNode));
}
bool ScratchOfNode(const Evidence& block) { return block.phase == Phase::kBackward; }

// The rest.
bool ScratchOfStep(const Evidence& block) { return block.phase == Phase::kOptimizer; }
bool NotSaved(const Evidence& block) {
  return block.phase == Phase::kForward || block.phase == Phase::kRecompute || block.compiled;
}
bool ScratchOfOperator(const Evidence& block) {
  return !block.found && !block.Has(kOutlivedOperator) && block.phase == Phase::kOther;
}
bool ComputedFromModel(const Evidence& block) { return block.Has(kDerived) || block.Has(kDifferentiable); }
bool Anything(const Evidence&) { return true; }

constexpr Rule kRules[] = {
    {"gathered_parameter", Category::kParameter, "gathered", Keeper::kRanks, GatheredParameter,
     "it is the result of an all-gather of the ranks' parts of parameters, or a copy from it"},
    {"parameter_of_module", Category::kParameter, "", Keeper::kHolder, HeldByModule,
     "a module holds it as a parameter"},
    {"parameter_of_optimizer", Category::kParameter, "", Keeper::kHolder, HeldByOptimizer, "an optimizer updates it"},
    {"leaf_with_gradients", Category::kParameter, "", Keeper::kHolder, LeafWithGradients,
     "a leaf tensor that gets gradients, and no module or optimizer holds it"},
    {"leaf_of_forward", Category::kParameter, "", Keeper::kHolder, LeafOfForward,
     "a leaf tensor that requires a gradient, made in forward from no other tensor, and live afterwards"},
    {"moved_parameter", Category::kParameter, "original", Keeper::kProgram, MovedParameter,
     "a parameter is a copy of it"},
    {"buffer_of_module", Category::kBuffer, "", Keeper::kHolder, BufferOfModule, "a module holds it as a buffer"},
    {"gradient_of_parameter", Category::kGradient, "", Keeper::kGradient, GradientOfParameter,
     "it is the .grad of a parameter or of another leaf tensor"},
    {"state_of_optimizer", Category::kOptimizerState, "", Keeper::kOptimizer, StateOfOptimizer,
     "an optimizer holds it in its state"},
    {"reduced_bucket", Category::kGradient, "bucket", Keeper::kRanks, ReducedBucket,
     "it is all-reduced during backward"},
    {"scattered_gradient", Category::kGradient, "reduce-scatter", Keeper::kRanks, ScatteredGradient,
     "it is the input or the result of a reduce-scatter of gradients"},
    {"bucket_of_views", Category::kGradient, "bucket", Keeper::kRanks, BucketOfViews,
     "made empty, with views of the sizes of leaf tensors that require a gradient"},
    {"kept_by_step", Category::kOptimizerState, "", Keeper::kOptimizer, KeptByStep,
     "allocated in an optimizer's step and live after it"},
    {"state_to_come", Category::kOptimizerState, "", Keeper::kProgram, StateToCome,
     "filled with a value, of the size of a leaf tensor that requires a gradient; the recording ends before the "
     "optimizer's first step"},
    {"copy_of_parameter", Category::kParameter, "copy", Keeper::kProgram, CopyOfParameter,
     "a copy of a parameter, made outside of modules and not used by backward"},
    {"loaded_input", Category::kInput, "", Keeper::kProgram, LoadedInput, "a data loader made it"},
    {"leaf_input", Category::kInput, "", Keeper::kProgram, LeafInput,
     "a leaf tensor that requires a gradient, but no optimizer updates it"},
    {"program_input", Category::kInput, "", Keeper::kProgram, ProgramInput,
     "made outside of modules, not computed from parameters or outputs of modules"},
    {"cast_parameter", Category::kActivation, "cast parameter", Keeper::kGraph, CastParameter,
     "a copy of a parameter, made in forward, as autocast does"},
    {"live_in_snapshot", Category::kActivation, "", Keeper::kNotKnown, LiveInSnapshot,
     "made in forward and live at the snapshot, which does not show what reads it afterwards"},
    {"workspace", Category::kTemporary, "workspace", Keeper::kLibrary, Workspace,
     "no operator reads it, and it outlives the operator that made it, like the workspace of a library"},
    {"autotuning", Category::kTemporary, "autotuning", Keeper::kCompiler, Autotuning,
     "torch.compile made it to benchmark kernels"},
    {"made_while_compiling", Category::kTemporary, "compile", Keeper::kCompiler, MadeWhileCompiling,
     "torch.compile made it while compiling"},
    {"recomputed", Category::kActivation, "recomputed", Keeper::kGraph, Recomputed,
     "recomputed for backward, as activation checkpointing does, and read there"},
    {"saved_in_backward", Category::kActivation, "of a double backward", Keeper::kGraph, SavedInBackward,
     "made by a backward pass that is itself differentiated, and read by a later one"},
    {"graph_retained", Category::kActivation, "graph retained", Keeper::kRetainedGraph, GraphRetained,
     "read by a backward pass that kept its graph's saved tensors (retain_graph=True)"},
    {"saved_for_backward", Category::kActivation, "", Keeper::kGraph, SavedForBackward,
     "made in forward, read in backward"},
    {"released_by_backward", Category::kActivation, "", Keeper::kGraph, ReleasedByBackward,
     "made in forward, freed by backward"},
    {"saved_unread", Category::kActivation, "", Keeper::kGraph, SavedUnread,
     "made in forward and saved by a node of autograd that ran without reading it"},
    {"awaits_backward", Category::kActivation, "", Keeper::kGraph, AwaitsBackward,
     "made while autograd was recording; the recording ends before the node of autograd that may have saved it has "
     "run"},
    {"graph_dropped", Category::kActivation, "no backward came", Keeper::kUnusedGraph, GraphDropped,
     "made while autograd was recording and live after the model's call, but the node of autograd that may have saved "
     "it never ran"},
    {"carried_between_calls", Category::kBuffer, "cache", Keeper::kProgram, CarriedBetweenCalls,
     "written in one call of a module and read in a later one, as a cache of keys and values is"},
    {"gradient_to_come", Category::kGradient, "", Keeper::kAutograd, GradientToCome,
     "made by backward for a leaf tensor without a gradient; the recording ends before autograd accumulates it"},
    {"gradient_asked_for", Category::kGradient, "", Keeper::kProgram, GradientAskedFor,
     "made by backward, and read by the program afterwards"},
    {"flows_through_backward", Category::kAutogradDetail, "", Keeper::kAutograd, FlowsThroughBackward,
     "passed from one node of autograd to the next"},
    {"scratch_of_node", Category::kTemporary, "", Keeper::kMaker, ScratchOfNode, "lives inside one node of autograd"},
    {"scratch_of_step", Category::kTemporary, "", Keeper::kMaker, ScratchOfStep,
     "lives inside one step of an optimizer"},
    {"not_saved", Category::kTemporary, "", Keeper::kProgram, NotSaved, "made in forward, not used by backward"},
    {"scratch_of_operator", Category::kTemporary, "", Keeper::kMaker, ScratchOfOperator, "lives inside one operator"},
    {"computed_from_model", Category::kTemporary, "", Keeper::kProgram, ComputedFromModel,
     "computed from parameters or outputs of modules, not used by backward"},
    {"nothing_known", Category::kUnknown, "", Keeper::kNotKnown, Anything, "the recording does not show what it is"},
};

}  // namespace

static_assert(std::size(kRules) < kMostRules);

absl::Span<const Rule> Rules() { return kRules; }

RuleNumber RuleFor(const Evidence& evidence) {
  RuleNumber number = 0;
  while (!kRules[number].holds(evidence)) ++number;
  return number;
}

}  // namespace memoir
