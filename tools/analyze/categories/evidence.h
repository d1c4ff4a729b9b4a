// What a recording shows of one block of memory while it is live: the input of the rules.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_H_

#include <cstdint>

#include "tools/model/event_base.h"

namespace memoir {

// Which parameter something belongs to: a number from 0, see ParameterBook.
using ParameterNumber = std::uint32_t;
inline constexpr ParameterNumber kNoParameter = 0xffffffffu;

enum class Sign : std::uint64_t {
  // Who holds it.
  kModuleParameter = std::uint64_t{1} << 0,
  kOptimizedParameter = std::uint64_t{1} << 1,  // an optimizer steps it
  kLeaf = std::uint64_t{1} << 2,                // autograd accumulates a gradient for it
  kLeafAgain = std::uint64_t{1} << 3,           // more than once
  kWantsGradient = std::uint64_t{1} << 4,       // an operator was given it as a leaf that wants a gradient
  kModuleBuffer = std::uint64_t{1} << 5,
  kOptimizerState = std::uint64_t{1} << 6,
  kParameterGradient = std::uint64_t{1} << 7,
  kMovedParameter = std::uint64_t{1} << 8,   // what was copied from it is a parameter now
  kCopiesParameter = std::uint64_t{1} << 9,  // it is a copy of a parameter, or of such a copy
  // How it came to be.
  kInOperator = std::uint64_t{1} << 10,      // inside one
  kLoaded = std::uint64_t{1} << 11,          // inside a data loader
  kDerived = std::uint64_t{1} << 12,         // computed from parameters or from what modules computed
  kCastParameter = std::uint64_t{1} << 13,   // a copy of a parameter, made in forward
  kGradMode = std::uint64_t{1} << 14,        // while autograd was recording
  kDifferentiable = std::uint64_t{1} << 15,  // autograd ran the backward node of what computed it
  // What became of it.
  kTensor = std::uint64_t{1} << 16,            // an operator took it or gave it back
  kOutlivedOperator = std::uint64_t{1} << 17,  // the outermost operator that was running when it was allocated
  kOutlivedNode = std::uint64_t{1} << 18,      // likewise the node of autograd
  kOutlivedStep = std::uint64_t{1} << 19,      // likewise the optimizer's step
  kOutlivedModel = std::uint64_t{1} << 20,     // likewise the call of the outermost module
  kReadInBackward = std::uint64_t{1} << 21,    // by an operator inside a node of autograd
  kReadOutside = std::uint64_t{1} << 22,       // by an operator outside of any
  kNodeArgument = std::uint64_t{1} << 23,      // a node of autograd took it as the gradient of its output
  kFreedInBackward = std::uint64_t{1} << 24,   // inside a node of autograd
  kPending = std::uint64_t{1} << 25,           // a node of autograd that may keep it had not run at its end
  kLeftLive = std::uint64_t{1} << 26,          // it has no end: the recording ended before, or is judged as if
  kPassedOver = std::uint64_t{1} << 30,        // a whole backward pass has gone by since
  kRetained = std::uint64_t{1} << 31,          // backward read it and kept the graph
  kToLeaf = std::uint64_t{1} << 34,            // as large as a leaf without a gradient that the node computes one of
  kInitialised = std::uint64_t{1} << 35,       // a leaf that wants a gradient was filled in place
  kLikeLeaf = std::uint64_t{1} << 36,          // filled with a value, as large as a leaf that wants a gradient
  kReadByProgram = std::uint64_t{1} << 32,     // by an operator outside of modules and backward
  kCarried = std::uint64_t{1} << 33,           // modules' calls read it that came after the one that made or wrote it
  kTuning = std::uint64_t{1} << 40,            // torch.compile tried kernels out
  kSaved = std::uint64_t{1} << 37,             // a node of autograd had saved it when that ran
  kReadAfterCall = std::uint64_t{1} << 41,     // after the innermost module's call that made it
  kReadByItsNode = std::uint64_t{1} << 38,     // by a later operator of the node that made it
  kCutLikeLeaves = std::uint64_t{1} << 39,     // empty, and viewed in parts as large as leaves that want a gradient
  // Distributed.
  kReduced = std::uint64_t{1} << 27,    // all-reduced inside autograd
  kGathered = std::uint64_t{1} << 28,   // an all-gather wrote it, or was copied out to it
  kScattered = std::uint64_t{1} << 29,  // a reduce-scatter took or gave it
};

struct Evidence {
  std::uint64_t signs = 0;
  Phase phase = Phase::kOther;  // in which it was allocated
  bool compiled = false;        // in a region that torch.compile made
  bool found = false;           // live before the recording
  bool unseen = false;          // no operator was recorded when it was allocated
  bool in_snapshot = false;     // live at a snapshot, which has nothing of what came before and after
  bool trains = false;          // modules or optimizers of this process were seen to hold parameters
  ParameterNumber parameter = kNoParameter;

  bool Has(Sign sign) const { return (signs & static_cast<std::uint64_t>(sign)) != 0; }
  bool IsParameter() const { return Has(Sign::kModuleParameter) || Has(Sign::kOptimizedParameter) || Has(Sign::kLeaf); }
  void Drop(Sign sign) { signs &= ~static_cast<std::uint64_t>(sign); }
  void Note(Sign sign) { signs |= static_cast<std::uint64_t>(sign); }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_H_
