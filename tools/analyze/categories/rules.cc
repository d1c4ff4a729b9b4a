#include "tools/analyze/categories/rules.h"

#include <iterator>

namespace memoir {
namespace {

using enum Sign;

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
  return block.phase == Phase::kOther && block.Has(kCopiesParameter) && block.Has(kOutlivedOperator) &&
         !block.Has(kReadInBackward) && !block.Has(kFreedInBackward) && !block.Has(kNodeArgument);
}
bool BufferOfModule(const Evidence& block) { return block.Has(kModuleBuffer); }
bool GradientOfParameter(const Evidence& block) { return block.Has(kParameterGradient); }
bool StateOfOptimizer(const Evidence& block) { return block.Has(kOptimizerState); }
bool KeptByStep(const Evidence& block) { return block.phase == Phase::kOptimizer && block.Has(kOutlivedStep); }

// Where a recording ends before an optimizer has made a step.
bool StateToCome(const Evidence& block) {
  return block.phase == Phase::kOther && block.Has(kLeftLive) && block.Has(kLikeLeaf);
}

// DDP makes its buckets before the first gradient, and anew after it.
bool BucketToCome(const Evidence& block) {
  return ComputedInForward(block) && block.Has(kLeftLive) && block.Has(kCutLikeLeaves);
}

// Gradients on their way between ranks.
bool ReducedBucket(const Evidence& block) { return block.Has(kReduced); }
bool ScatteredGradient(const Evidence& block) { return block.Has(kScattered); }

// What comes from outside.
bool LoadedInput(const Evidence& block) { return block.Has(kLoaded); }
bool LeafInput(const Evidence& block) {
  return (block.Has(kLeaf) || block.Has(kWantsGradient)) && block.phase == Phase::kOther && !block.Has(kDerived);
}
bool ProgramInput(const Evidence& block) {
  return block.phase == Phase::kOther && !block.found && !block.compiled && block.Has(kTensor) &&
         block.Has(kOutlivedOperator) && !block.Has(kDerived) && !block.Has(kDifferentiable) && !block.Has(kCarried);
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
     "an all-gather puts the ranks' parts of parameters together in it, or it is copied out of there"},
    {"parameter_of_module", Category::kParameter, "", Keeper::kHolder, HeldByModule,
     "a module holds it as a parameter"},
    {"parameter_of_optimizer", Category::kParameter, "", Keeper::kHolder, HeldByOptimizer, "an optimizer steps it"},
    {"leaf_with_gradients", Category::kParameter, "", Keeper::kHolder, LeafWithGradients,
     "a leaf of autograd that gets gradients, and nobody else holds it"},
    {"leaf_of_forward", Category::kParameter, "", Keeper::kHolder, LeafOfForward,
     "a leaf that wants a gradient, made in a model's forward from nothing, and kept"},
    {"moved_parameter", Category::kParameter, "original", Keeper::kProgram, MovedParameter,
     "what was copied from it is a parameter"},
    {"buffer_of_module", Category::kBuffer, "", Keeper::kHolder, BufferOfModule, "a module holds it as a buffer"},
    {"gradient_of_parameter", Category::kGradient, "", Keeper::kGradient, GradientOfParameter,
     "it is the .grad of a parameter, or of another leaf"},
    {"state_of_optimizer", Category::kOptimizerState, "", Keeper::kOptimizer, StateOfOptimizer,
     "an optimizer holds it in its state"},
    {"reduced_bucket", Category::kGradient, "bucket", Keeper::kRanks, ReducedBucket,
     "it is all-reduced during backward"},
    {"scattered_gradient", Category::kGradient, "reduce-scatter", Keeper::kRanks, ScatteredGradient,
     "a reduce-scatter of gradients takes or gives it"},
    {"bucket_to_come", Category::kGradient, "bucket", Keeper::kRanks, BucketToCome,
     "empty and cut into views as large as leaves that want a gradient, where the recording ends before it is reduced"},
    {"kept_by_step", Category::kOptimizerState, "", Keeper::kOptimizer, KeptByStep,
     "allocated in an optimizer's step, it outlived that"},
    {"state_to_come", Category::kOptimizerState, "", Keeper::kProgram, StateToCome,
     "filled as large as a leaf that wants a gradient, where the recording ends before an optimizer's first step"},
    {"copy_of_parameter", Category::kParameter, "copy", Keeper::kProgram, CopyOfParameter,
     "copied from a parameter outside of modules, and of no use to backward"},
    {"loaded_input", Category::kInput, "", Keeper::kProgram, LoadedInput, "a data loader made it"},
    {"leaf_input", Category::kInput, "", Keeper::kProgram, LeafInput,
     "a leaf that wants a gradient, but no optimizer steps it"},
    {"program_input", Category::kInput, "", Keeper::kProgram, ProgramInput,
     "made outside of modules, from nothing that modules or parameters gave"},
    {"cast_parameter", Category::kActivation, "cast parameter", Keeper::kGraph, CastParameter,
     "a copy of a parameter that forward made, as autocast does"},
    {"workspace", Category::kTemporary, "workspace", Keeper::kLibrary, Workspace,
     "no operator was given it, and it outlived the one that made it, as a library's workspace does"},
    {"autotuning", Category::kTemporary, "autotuning", Keeper::kCompiler, Autotuning,
     "torch.compile made it to try kernels out"},
    {"made_while_compiling", Category::kTemporary, "compile", Keeper::kCompiler, MadeWhileCompiling,
     "torch.compile made it while it worked"},
    {"recomputed", Category::kActivation, "recomputed", Keeper::kGraph, Recomputed,
     "made again for backward, as activation checkpointing does, and read there"},
    {"saved_in_backward", Category::kActivation, "of a double backward", Keeper::kGraph, SavedInBackward,
     "a backward pass that is itself differentiated made it, and a later one read it"},
    {"graph_retained", Category::kActivation, "graph retained", Keeper::kRetainedGraph, GraphRetained,
     "read by a backward pass that kept what its graph had saved (retain_graph=True)"},
    {"saved_for_backward", Category::kActivation, "", Keeper::kGraph, SavedForBackward,
     "made in forward, read in backward"},
    {"released_by_backward", Category::kActivation, "", Keeper::kGraph, ReleasedByBackward,
     "made in forward, given back by backward"},
    {"saved_unread", Category::kActivation, "", Keeper::kGraph, SavedUnread,
     "made in forward and saved by a node of autograd that ran, but had no need of it"},
    {"awaits_backward", Category::kActivation, "", Keeper::kGraph, AwaitsBackward,
     "made while autograd was recording, and live where the recording ends, before the node has run that may keep it"},
    {"graph_dropped", Category::kActivation, "no backward came", Keeper::kUnusedGraph, GraphDropped,
     "made while autograd was recording and kept after the model had returned, but the node that may keep it never "
     "ran"},
    {"carried_between_calls", Category::kBuffer, "cache", Keeper::kProgram, CarriedBetweenCalls,
     "a module's call made or wrote it and a later one read it, as it is with keys and values"},
    {"gradient_to_come", Category::kGradient, "", Keeper::kAutograd, GradientToCome,
     "backward made it for a leaf without a gradient, and the recording ends before autograd accumulates it"},
    {"gradient_asked_for", Category::kGradient, "", Keeper::kProgram, GradientAskedFor,
     "backward made it, and the program reads it afterwards"},
    {"flows_through_backward", Category::kAutogradDetail, "", Keeper::kAutograd, FlowsThroughBackward,
     "goes from one node of autograd to the next"},
    {"scratch_of_node", Category::kTemporary, "", Keeper::kMaker, ScratchOfNode, "lives inside one node of autograd"},
    {"scratch_of_step", Category::kTemporary, "", Keeper::kMaker, ScratchOfStep,
     "lives inside one step of an optimizer"},
    {"not_saved", Category::kTemporary, "", Keeper::kProgram, NotSaved, "made in forward, of no use to backward"},
    {"scratch_of_operator", Category::kTemporary, "", Keeper::kMaker, ScratchOfOperator, "lives inside one operator"},
    {"computed_from_model", Category::kTemporary, "", Keeper::kProgram, ComputedFromModel,
     "computed from what modules or parameters gave, of no use to backward"},
    {"nothing_known", Category::kUnknown, "", Keeper::kNotKnown, Anything, "nothing was seen that tells"},
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
