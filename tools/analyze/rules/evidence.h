// What a recording shows of one block of memory while it lives: all that the rules go by.
#ifndef TOOLS_ANALYZE_RULES_EVIDENCE_H_
#define TOOLS_ANALYZE_RULES_EVIDENCE_H_

#include <cstdint>

#include "tools/model/event_base.h"

namespace memoir {

// Which parameter something belongs to: a number from 0, see ParameterBook.
using ParameterNumber = std::uint32_t;
inline constexpr ParameterNumber kNoParameter = 0xffffffffu;

enum class Sign : std::uint32_t {
  // Who holds it.
  kModuleParameter = 1u << 0,
  kOptimizedParameter = 1u << 1,  // an optimizer steps it
  kLeaf = 1u << 2,                // autograd accumulates a gradient for it
  kLeafAgain = 1u << 3,           // more than once
  kWantsGradient = 1u << 4,       // an operator was given it as a leaf that wants a gradient
  kModuleBuffer = 1u << 5,
  kOptimizerState = 1u << 6,
  kParameterGradient = 1u << 7,
  kMovedParameter = 1u << 8,   // what was copied from it is a parameter now
  kCopiesParameter = 1u << 9,  // it is a copy of a parameter, or of such a copy
  // How it came to be.
  kInOperator = 1u << 10,      // inside one
  kLoaded = 1u << 11,          // inside a data loader
  kDerived = 1u << 12,         // computed from parameters or from what modules computed
  kCastParameter = 1u << 13,   // a copy of a parameter, made in forward
  kGradMode = 1u << 14,        // while autograd was recording
  kDifferentiable = 1u << 15,  // autograd ran the backward node of what computed it
  // What became of it.
  kTensor = 1u << 16,            // an operator took it or gave it back
  kOutlivedOperator = 1u << 17,  // the outermost operator that was running when it was allocated
  kOutlivedNode = 1u << 18,      // likewise the node of autograd
  kOutlivedStep = 1u << 19,      // likewise the optimizer's step
  kOutlivedModel = 1u << 20,     // likewise the call of the outermost module
  kReadInBackward = 1u << 21,    // by an operator inside a node of autograd
  kReadOutside = 1u << 22,       // by an operator outside of any
  kNodeArgument = 1u << 23,      // a node of autograd took it as the gradient of its output
  kFreedInBackward = 1u << 24,   // inside a node of autograd
  kBackwardBegan = 1u << 25,     // some node of autograd began during its life
  kLeftLive = 1u << 26,          // live when the recording ended, or when memory ran out
  // Distributed.
  kReduced = 1u << 27,    // all-reduced inside autograd
  kGathered = 1u << 28,   // an all-gather wrote it, or was copied out to it
  kScattered = 1u << 29,  // a reduce-scatter took or gave it
};

struct Evidence {
  std::uint32_t signs = 0;
  Phase phase = Phase::kOther;  // in which it was allocated
  bool compiled = false;        // in a region that torch.compile made
  bool found = false;           // live before the recording
  bool trains = false;          // modules or optimizers of this process were seen to hold parameters
  ParameterNumber parameter = kNoParameter;

  bool Has(Sign sign) const { return (signs & static_cast<std::uint32_t>(sign)) != 0; }
  bool IsParameter() const { return Has(Sign::kModuleParameter) || Has(Sign::kOptimizedParameter) || Has(Sign::kLeaf); }
  void Note(Sign sign) { signs |= static_cast<std::uint32_t>(sign); }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RULES_EVIDENCE_H_
