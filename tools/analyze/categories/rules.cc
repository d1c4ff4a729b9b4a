#include "tools/analyze/categories/rules.h"

#include <iterator>

namespace memoir {
namespace {

using enum Sign;

// If operators were not recorded, it is unknown whether a module ran.
bool MadeOutside(const Evidence& block) { return block.phase == Phase::kOther && !block.unseen; }
bool ComputedInForward(const Evidence& block) { return block.phase == Phase::kForward || MadeOutside(block); }

// Blocks of modules, optimizers and the program. Their holder was recorded, not inferred.

bool HeldByModule(const Evidence& block) { return block.Has(kModuleParameter); }
bool HeldByOptimizer(const Evidence& block) { return block.Has(kOptimizedParameter); }

// A leaf that no module or optimizer holds is a parameter in three cases: autograd accumulates a gradient for it
// repeatedly, no module or optimizer of the process has parameters, or the leaf is `initialised`. In the first two
// cases the program itself updates the parameter. In other cases the leaf is an input that requires a gradient. A
// module's result that activation checkpointing turned into a leaf is neither a parameter nor an input.
bool LeafWithGradients(const Evidence& block) {
  const bool leaf = block.Has(kLeaf) || block.Has(kWantsGradient);
  // The recording may have ended before a holder reported the leaf.
  const bool initialised = block.Has(kLeftLive) && block.Has(kInitialised);
  return leaf && block.phase == Phase::kOther && (block.Has(kLeafAgain) || !block.trains || initialised);
}
// A leaf that was made in forward from no other tensor. Lazy modules make such leaves at their first call, and report
// them as parameters only at the next call.
bool LeafOfForward(const Evidence& block) {
  const bool kept = block.Has(kOutlivedModel) || block.Has(kLeftLive);
  return block.Has(kWantsGradient) && block.phase == Phase::kForward && kept && !block.Has(kDerived);
}
bool MovedParameter(const Evidence& block) { return block.Has(kMovedParameter); }
// With FSDP a module holds the gathered tensor as its parameter, in place of its shard. So this rule comes before
// HeldByModule.
bool GatheredParameter(const Evidence& block) { return block.Has(kGathered); }
// An average of a model's earlier parameters, or a copy for a later comparison. Such a copy is made outside of modules,
// and backward does not use it.
bool CopyOfParameter(const Evidence& block) {
  return MadeOutside(block) && block.Has(kCopiesParameter) && block.Has(kOutlivedOperator) &&
         !block.Has(kReadInBackward) && !block.Has(kFreedInBackward) && !block.Has(kNodeArgument);
}
// Loaded weights that the program holds in addition to the model. SecondCopies finds them at the end of the process.
bool SecondCopyOfParameters(const Evidence& block) { return block.Has(kSecondCopy); }
bool BufferOfModule(const Evidence& block) { return block.Has(kModuleBuffer); }
bool GradientOfParameter(const Evidence& block) { return block.Has(kParameterGradient); }
bool StateOfOptimizer(const Evidence& block) { return block.Has(kOptimizerState); }
bool KeptByStep(const Evidence& block) { return block.phase == Phase::kOptimizer && block.Has(kOutlivedStep); }

// Optimizer state that was made before the optimizer's first step, in a recording that ends before this step.
bool StateToCome(const Evidence& block) { return MadeOutside(block) && block.Has(kLeftLive) && block.Has(kLikeLeaf); }

// DDP makes its buckets before the first gradient, and makes them again after the first backward pass. A communication
// hook may reduce another tensor instead of the bucket, such as a copy in half precision.
bool BucketOfViews(const Evidence& block) { return ComputedInForward(block) && block.Has(kCutLikeLeaves); }

// Gradients that are exchanged between ranks.
bool ReducedBucket(const Evidence& block) { return block.Has(kReduced); }
bool ScatteredGradient(const Evidence& block) { return block.Has(kScattered); }

// CUDA graphs read the seed and offset of random numbers from memory, because these differ for each replay.
bool StateOfGenerator(const Evidence& block) { return block.Has(kOfGenerator); }

// Inputs.
bool LoadedInput(const Evidence& block) { return block.Has(kLoaded); }
bool LeafInput(const Evidence& block) {
  return (block.Has(kLeaf) || block.Has(kWantsGradient)) && MadeOutside(block) && !block.Has(kDerived);
}
bool ProgramInput(const Evidence& block) {
  return MadeOutside(block) && !block.found && !block.compiled && block.Has(kTensor) && block.Has(kOutlivedOperator) &&
         !block.Has(kDerived) && !block.Has(kDifferentiable) && !block.Has(kCarried);
}

// A snapshot does not show which operators read a block. But a block of forward that is live between two operators is
// usually saved for backward.
bool LiveInSnapshot(const Evidence& block) {
  return block.in_snapshot && (block.phase == Phase::kForward || block.phase == Phase::kRecompute);
}

// Blocks that are kept for backward, and blocks of libraries and of torch.compile.

// A copy of a parameter that was made in forward, as autocast does.
bool CastParameter(const Evidence& block) { return block.Has(kCastParameter) && block.phase == Phase::kForward; }
// cuBLAS has a workspace for each stream, which torch's allocator provides.
bool Workspace(const Evidence& block) {
  return !block.Has(kTensor) && block.Has(kOutlivedOperator) && !block.found && !block.Has(kFreedInBackward) &&
         block.Has(kInOperator);
}
// The memory that torch.compile needs for its own work does not belong to the model, even if the model reads it.
bool Autotuning(const Evidence& block) { return block.phase == Phase::kCompile && block.Has(kTuning); }
bool MadeWhileCompiling(const Evidence& block) { return block.phase == Phase::kCompile; }
// The node that may have saved the block had not run when the recording ended.
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
// Saved by a node that ran without reading the block, because the node computed only gradients of other tensors.
bool SavedUnread(const Evidence& block) { return ComputedInForward(block) && block.Has(kSaved); }
bool AwaitsBackward(const Evidence& block) { return ComputedInForward(block) && StillAwaits(block); }

// The block was freed, or the recording ended, before the node that may have saved it ran. So backward did not use it.
bool GraphDropped(const Evidence& block) {
  return block.phase == Phase::kForward && block.Has(kOutlivedModel) && block.Has(kGradMode) && block.Has(kPending) &&
         !block.Has(kDifferentiable);
}

// Made or written in one call of a model, and read in another call of this model or in two calls of other models.
// Blocks that backward needs do not reach this rule: earlier rules apply to them.
bool CarriedBetweenCalls(const Evidence& block) { return ComputedInForward(block) && block.Has(kCarried); }

// Other blocks of backward.
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

// All other blocks.
bool ScratchOfStep(const Evidence& block) { return block.phase == Phase::kOptimizer; }
// Results that a list, a dictionary or a variable of the program holds.
bool KeptByProgram(const Evidence& block) {
  return block.phase == Phase::kForward && block.Has(kOutlivedModel) && block.Has(kKeptForSteps);
}
bool NotSaved(const Evidence& block) {
  return block.phase == Phase::kForward || block.phase == Phase::kRecompute || block.compiled;
}
bool ScratchOfOperator(const Evidence& block) {
  return !block.found && !block.Has(kOutlivedOperator) && block.phase == Phase::kOther;
}
bool ComputedFromModel(const Evidence& block) { return block.Has(kDerived) || block.Has(kDifferentiable); }
bool Anything(const Evidence&) { return true; }

constexpr Rule kRules[] = {
    {"gathered_parameter", Category::kParameter, "gathered", HolderKind::kRanks, GatheredParameter,
     "it is the result of an all-gather of the ranks' parts of parameters, or a copy from it"},
    {"parameter_of_module", Category::kParameter, "", HolderKind::kHolder, HeldByModule,
     "a module holds it as a parameter"},
    {"parameter_of_optimizer", Category::kParameter, "", HolderKind::kHolder, HeldByOptimizer,
     "an optimizer updates it"},
    {"leaf_with_gradients", Category::kParameter, "", HolderKind::kHolder, LeafWithGradients,
     "a leaf tensor that gets gradients repeatedly, or that requires a gradient in a program without modules and "
     "optimizers"},
    {"leaf_of_forward", Category::kParameter, "", HolderKind::kHolder, LeafOfForward,
     "a leaf tensor that requires a gradient, made in forward from no other tensor, and live afterwards"},
    {"moved_parameter", Category::kParameter, "original", HolderKind::kProgram, MovedParameter,
     "a parameter is a copy of it"},
    {"buffer_of_module", Category::kBuffer, "", HolderKind::kHolder, BufferOfModule, "a module holds it as a buffer"},
    {"gradient_of_parameter", Category::kGradient, "", HolderKind::kGradient, GradientOfParameter,
     "it is the .grad of a parameter or of another leaf tensor"},
    {"state_of_optimizer", Category::kOptimizerState, "", HolderKind::kOptimizer, StateOfOptimizer,
     "an optimizer holds it in its state"},
    {"reduced_bucket", Category::kGradient, "bucket", HolderKind::kRanks, ReducedBucket,
     "it is all-reduced during backward"},
    {"scattered_gradient", Category::kGradient, "reduce-scatter", HolderKind::kRanks, ScatteredGradient,
     "it is the input or the result of a reduce-scatter of gradients"},
    {"bucket_of_views", Category::kGradient, "bucket", HolderKind::kRanks, BucketOfViews,
     "made empty, with views of the sizes of leaf tensors that require a gradient"},
    {"kept_by_step", Category::kOptimizerState, "", HolderKind::kOptimizer, KeptByStep,
     "allocated in an optimizer's step and live after it"},
    {"state_to_come", Category::kOptimizerState, "", HolderKind::kProgram, StateToCome,
     "filled with a value, of the size of a leaf tensor that requires a gradient; the recording ends before the "
     "optimizer's first step"},
    {"copy_of_parameter", Category::kParameter, "copy", HolderKind::kProgram, CopyOfParameter,
     "a copy of a parameter, made outside of modules and not used by backward"},
    {"state_of_generator", Category::kBuffer, "random generator", HolderKind::kProgram, StateOfGenerator,
     "torch made it when it began to capture a CUDA graph, for the seed or the offset of its random generator"},
    {"second_copy", Category::kParameter, "second copy", HolderKind::kProgram, SecondCopyOfParameters,
     "an input, made with others of the shapes and dtypes of all parameters of a model"},
    {"loaded_input", Category::kInput, "", HolderKind::kProgram, LoadedInput, "a data loader made it"},
    {"leaf_input", Category::kInput, "", HolderKind::kProgram, LeafInput,
     "a leaf tensor that requires a gradient, made outside of modules, and not a parameter"},
    {"program_input", Category::kInput, "", HolderKind::kProgram, ProgramInput,
     "made outside of modules, not computed from parameters or outputs of modules"},
    {"cast_parameter", Category::kActivation, "cast parameter", HolderKind::kGraph, CastParameter,
     "a copy of a parameter, made in forward, as autocast does"},
    {"live_in_snapshot", Category::kActivation, "", HolderKind::kNotKnown, LiveInSnapshot,
     "made in forward and live at the snapshot, which does not show what reads it afterwards"},
    {"workspace", Category::kTemporary, "workspace", HolderKind::kLibrary, Workspace,
     "no operator reads it, and it outlives the operator that made it, like the workspace of a library"},
    {"autotuning", Category::kTemporary, "autotuning", HolderKind::kCompiler, Autotuning,
     "torch.compile made it to benchmark kernels"},
    {"made_while_compiling", Category::kTemporary, "compile", HolderKind::kCompiler, MadeWhileCompiling,
     "torch.compile made it while compiling"},
    {"recomputed", Category::kActivation, "recomputed", HolderKind::kGraph, Recomputed,
     "recomputed for backward, as activation checkpointing does, and read there"},
    {"saved_in_backward", Category::kActivation, "of a double backward", HolderKind::kGraph, SavedInBackward,
     "made by a backward pass that is itself differentiated, and read by a later one"},
    {"graph_retained", Category::kActivation, "graph retained", HolderKind::kRetainedGraph, GraphRetained,
     "read by a backward pass that kept its graph's saved tensors (retain_graph=True)"},
    {"saved_for_backward", Category::kActivation, "", HolderKind::kGraph, SavedForBackward,
     "made in forward, read in backward"},
    {"released_by_backward", Category::kActivation, "", HolderKind::kGraph, ReleasedByBackward,
     "made in forward, freed by backward"},
    {"saved_unread", Category::kActivation, "", HolderKind::kGraph, SavedUnread,
     "made in forward and saved by a node of autograd that ran without reading it"},
    {"awaits_backward", Category::kActivation, "", HolderKind::kGraph, AwaitsBackward,
     "made while autograd was recording; the recording ends before the node of autograd that may have saved it has "
     "run"},
    {"graph_dropped", Category::kActivation, "no backward came", HolderKind::kUnusedGraph, GraphDropped,
     "made while autograd was recording and live after the model's call, but the node of autograd that may have saved "
     "it never ran"},
    {"carried_between_calls", Category::kBuffer, "cache", HolderKind::kProgram, CarriedBetweenCalls,
     "written in one call of a module and read in a later one, as a cache of keys and values is"},
    {"gradient_to_come", Category::kGradient, "", HolderKind::kAutograd, GradientToCome,
     "made by backward for a leaf tensor without a gradient; the recording ends before autograd accumulates it"},
    {"gradient_asked_for", Category::kGradient, "", HolderKind::kProgram, GradientAskedFor,
     "made by backward, and read by the program afterwards"},
    {"flows_through_backward", Category::kAutogradDetail, "", HolderKind::kAutograd, FlowsThroughBackward,
     "passed from one node of autograd to the next"},
    {"scratch_of_node", Category::kTemporary, "", HolderKind::kMaker, ScratchOfNode,
     "lives inside one node of autograd"},
    {"scratch_of_step", Category::kTemporary, "", HolderKind::kMaker, ScratchOfStep,
     "lives inside one step of an optimizer"},
    {"kept_by_program", Category::kActivation, "kept", HolderKind::kProgram, KeptByProgram,
     "made in forward, not used by backward, and kept by the program through later steps"},
    {"not_saved", Category::kTemporary, "", HolderKind::kProgram, NotSaved, "made in forward, not used by backward"},
    {"scratch_of_operator", Category::kTemporary, "", HolderKind::kMaker, ScratchOfOperator,
     "lives inside one operator"},
    {"computed_from_model", Category::kTemporary, "", HolderKind::kProgram, ComputedFromModel,
     "computed from parameters or outputs of modules, not used by backward"},
    {"nothing_known", Category::kUnknown, "", HolderKind::kNotKnown, Anything,
     "the recording does not show what it is"},
};

}  // namespace

static_assert(std::size(kRules) < kMostRules);

absl::Span<const Rule> Rules() { return kRules; }

bool IsBucketOfRanks(const Rule& rule) { return rule.kept == Category::kGradient && rule.detail == "bucket"; }

RuleNumber RuleFor(const Evidence& evidence) {
  RuleNumber number = 0;
  while (!kRules[number].holds(evidence)) ++number;
  return number;
}

bool IsSecondCopy(RuleNumber rule) { return kRules[rule].holds == SecondCopyOfParameters; }

}  // namespace memoir
