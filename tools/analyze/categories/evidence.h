// The evidence that a recording contains about a block: the input of the rules. In the comments, "it" is this block.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_H_

#include <cstdint>

#include "tools/model/event/event_base.h"

namespace memoir {

// Number of a parameter, from 0 (ParameterBook).
using ParameterNumber = std::uint32_t;
inline constexpr ParameterNumber kNoParameter = 0xffffffffu;

enum class Sign : std::uint64_t {
  // Signs of a parameter, a buffer, an optimizer state or a gradient, and of a copy of a parameter or its source.
  kModuleParameter = std::uint64_t{1} << 0,
  kOptimizedParameter = std::uint64_t{1} << 1,  // an optimizer updates it
  kLeaf = std::uint64_t{1} << 2,                // autograd accumulates a gradient for it
  kLeafAgain = std::uint64_t{1} << 3,           // autograd accumulated a gradient for it more than once
  kWantsGradient = std::uint64_t{1} << 4,       // an operator received it as a leaf that requires a gradient
  kModuleBuffer = std::uint64_t{1} << 5,
  kOptimizerState = std::uint64_t{1} << 6,
  kParameterGradient = std::uint64_t{1} << 7,
  kMovedParameter = std::uint64_t{1} << 8,   // a copy of it has become a parameter
  kCopiesParameter = std::uint64_t{1} << 9,  // it is a copy of a parameter, or a copy of such a copy
  // How the block was made.
  kInOperator = std::uint64_t{1} << 10,      // allocated while an operator ran
  kLoaded = std::uint64_t{1} << 11,          // allocated while a data loader ran
  kDerived = std::uint64_t{1} << 12,         // computed from parameters, or from results of modules
  kCastParameter = std::uint64_t{1} << 13,   // forward made it as a copy of a parameter
  kGradMode = std::uint64_t{1} << 14,        // allocated while autograd was recording
  kDifferentiable = std::uint64_t{1} << 15,  // autograd ran the backward node of the operator that computed it
  // How the block was used, when it was freed, and facts about its making and its size.
  kTensor = std::uint64_t{1} << 16,            // an operator received or returned it as a tensor
  kOutlivedOperator = std::uint64_t{1} << 17,  // lived longer than the outermost operator that allocated it
  kOutlivedNode = std::uint64_t{1} << 18,      // lived longer than the autograd node that allocated it
  kOutlivedStep = std::uint64_t{1} << 19,      // lived longer than the optimizer step that allocated it
  kOutlivedModel = std::uint64_t{1} << 20,     // lived longer than the outermost module's call that allocated it
  kReadInBackward = std::uint64_t{1} << 21,    // read by an operator inside of an autograd node
  kReadOutside = std::uint64_t{1} << 22,       // read by an operator outside of all autograd nodes
  kNodeArgument = std::uint64_t{1} << 23,      // an autograd node received it as the gradient of its output
  kFreedInBackward = std::uint64_t{1} << 24,   // freed inside of an autograd node
  kPending = std::uint64_t{1} << 25,           // when it was judged, an autograd node that may keep it had not run
  kLeftLive = std::uint64_t{1} << 26,          // judged while live, at an early end (live_block_judge.h)
  kPassedOver = std::uint64_t{1} << 30,        // a whole backward pass has run since it was allocated
  kRetained = std::uint64_t{1} << 31,          // a backward pass read it and kept the graph (retain_graph=True)
  kToLeaf = std::uint64_t{1} << 34,            // as large as a leaf whose first gradient the running node computes
  kInitialised = std::uint64_t{1} << 35,       // it is a leaf that requires a gradient, and was filled in place
  kLikeLeaf = std::uint64_t{1} << 36,          // filled with a value, and as large as a leaf that requires a gradient
  kReadByProgram = std::uint64_t{1} << 32,     // read by an operator outside of modules and backward
  kCarried = std::uint64_t{1} << 33,           // made or written in one call of a module, and read in a later call
  kTuning = std::uint64_t{1} << 40,            // allocated while torch.compile tried out kernels
  kOfGenerator = std::uint64_t{1} << 42,  // torch made it for a random generator when the capture of a CUDA graph began
  kSaved = std::uint64_t{1} << 37,        // saved by an autograd node that has run
  kReadAfterCall = std::uint64_t{1} << 41,  // made in a call of a module, and read after that call had returned
  kReadByItsNode = std::uint64_t{1} << 38,  // made in an autograd node, and read by a later operator of that node
  kCutLikeLeaves = std::uint64_t{1} << 39,  // allocated empty; its views are as large as leaves that require a gradient
  kKeptForSteps = std::uint64_t{1} << 43,   // since it was made, backward or the model has run several times
  kSecondCopy = std::uint64_t{1} << 44,     // one of several blocks that match all parameters of a model
  // The exchange of the block between ranks.
  kReduced = std::uint64_t{1} << 27,    // all-reduced inside of an autograd node
  kGathered = std::uint64_t{1} << 28,   // an all-gather wrote it, or FSDP copied gathered contents to it
  kScattered = std::uint64_t{1} << 29,  // argument or result of a reduce-scatter
};

struct Evidence {
  std::uint64_t signs = 0;
  Phase phase = Phase::kOther;  // phase of the program when the block was allocated
  bool compiled = false;        // allocated by code that torch.compile generated
  bool found = false;           // live before the recording began
  bool unseen = false;          // operators were not being recorded when it was allocated
  bool in_snapshot = false;     // live in a snapshot, which shows only one instant
  bool trains = false;          // the process has parameters in modules or optimizers
  ParameterNumber parameter = kNoParameter;

  bool Has(Sign sign) const { return (signs & static_cast<std::uint64_t>(sign)) != 0; }
  bool IsParameter() const { return Has(Sign::kModuleParameter) || Has(Sign::kOptimizedParameter) || Has(Sign::kLeaf); }
  void Drop(Sign sign) { signs &= ~static_cast<std::uint64_t>(sign); }
  void Note(Sign sign) { signs |= static_cast<std::uint64_t>(sign); }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_H_
