// Chooses, among the changes between two programs, those that may explain the difference of one device.
#ifndef TOOLS_ANALYZE_COMPARE_DEVICE_CAUSES_H_
#define TOOLS_ANALYZE_COMPARE_DEVICE_CAUSES_H_

#include <optional>
#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

// A device that both captures have.
struct MatchedDevice {
  const HeldDevice &a, &b;
  const std::vector<MatchedPart>& parts;
};

// Returns the entries of `changes` that may explain the difference of the device, and changes of the kinds kLiveCalls
// and kEarlierSteps.
std::vector<ProgramChange> CausesOf(const MatchedDevice& device, const std::vector<ProgramChange>& changes,
                                    const MatchedNames& names);

// Returns `parts` without the parts that every program keeps from step to step, such as parameters. In a returned
// part, A and B differ only in the bytes from before the step: bytes that this program may keep from step to step.
std::vector<MatchedPart> PartsOfEarlierSteps(std::vector<MatchedPart> parts);

// Fills in the shapes of the tensors that the line of `cause` made, if both captures have them and they differ.
void AddShapes(const CaptureHoldings& a, const CaptureHoldings& b, MainCause& cause);

// The first line of the program that runs other operators in B, and the first tensor that has another shape: changes of
// the kinds kOperator and kFirstShape.
struct LineChanges {
  std::optional<ProgramChange> operators, shape;
};
LineChanges FindLineChanges(const CaptureHoldings& a, const CaptureHoldings& b, const MatchedNames& names);
// If the device has no other cause, adds the change of operators. If there is no such change, adds the change of shape,
// unless `device.cause` already shows it, or it has the opposite direction of the device's difference. AddShapes must
// be called before.
void AddLineChange(const LineChanges& changes, ComparedDevice& device);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_DEVICE_CAUSES_H_
