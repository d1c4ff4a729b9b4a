// Each rule of Memoir's: what it says, and of what it does not hold. The signs that they go by come from small captures
// in evidence_test.cc.
#include "tools/analyze/rules/rules.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>

namespace memoir {
namespace {

using enum Sign;

Evidence Seen(Phase phase, std::initializer_list<Sign> signs) {
  Evidence evidence;
  evidence.phase = phase;
  for (const Sign sign : signs) evidence.Note(sign);
  return evidence;
}

const Rule& Found(const Evidence& evidence) { return Rules()[RuleFor(evidence)]; }

struct Case {
  std::string_view rule;
  KeptAs kept;
  Evidence holds;
  Evidence does_not;  // one thing less: another rule's
};

Evidence Trains(Evidence evidence) {
  evidence.trains = true;
  return evidence;
}

Evidence Found(Evidence evidence, bool found) {
  evidence.found = found;
  return evidence;
}

const Case kCases[] = {
    {"parameter_of_module", KeptAs::kParameter, Seen(Phase::kOther, {kModuleParameter, kReadInBackward}),
     Seen(Phase::kOther, {kReadInBackward})},
    {"parameter_of_optimizer", KeptAs::kParameter, Seen(Phase::kOther, {kOptimizedParameter}),
     Seen(Phase::kOther, {Sign::kOptimizerState})},
    {"leaf_with_gradients", KeptAs::kParameter, Trains(Seen(Phase::kOther, {kLeaf, kLeafAgain})),
     Trains(Seen(Phase::kOther, {kLeaf}))},
    {"moved_parameter", KeptAs::kParameter, Seen(Phase::kOther, {kMovedParameter, kTensor, kOutlivedOperator}),
     Seen(Phase::kOther, {kTensor, kOutlivedOperator})},
    {"gathered_parameter", KeptAs::kParameter, Seen(Phase::kForward, {kGathered, kReadInBackward}),
     Seen(Phase::kForward, {kReadInBackward})},
    {"buffer_of_module", KeptAs::kBuffer, Seen(Phase::kOther, {kModuleBuffer}), Seen(Phase::kOther, {kDerived})},
    {"gradient_of_parameter", KeptAs::kGradient, Seen(Phase::kBackward, {kParameterGradient, kOutlivedNode}),
     Seen(Phase::kBackward, {kOutlivedNode})},
    {"state_of_optimizer", KeptAs::kOptimizerState, Seen(Phase::kOther, {Sign::kOptimizerState}),
     Seen(Phase::kOther, {kDerived})},
    {"reduced_bucket", KeptAs::kGradient, Seen(Phase::kOther, {kReduced, kTensor, kOutlivedOperator}),
     Seen(Phase::kOther, {kTensor, kOutlivedOperator})},
    {"scattered_gradient", KeptAs::kGradient, Seen(Phase::kBackward, {kScattered, kOutlivedNode}),
     Seen(Phase::kBackward, {kOutlivedNode})},
    {"kept_by_step", KeptAs::kOptimizerState, Seen(Phase::kOptimizer, {kOutlivedStep}), Seen(Phase::kOptimizer, {})},
    {"loaded_input", KeptAs::kInput, Seen(Phase::kOther, {kLoaded, kDerived}), Seen(Phase::kOther, {kDerived})},
    {"leaf_input", KeptAs::kInput, Trains(Seen(Phase::kOther, {kLeaf, kReadInBackward})),
     Trains(Seen(Phase::kOther, {kReadInBackward}))},
    {"program_input", KeptAs::kInput, Seen(Phase::kOther, {kTensor, kOutlivedOperator, kReadInBackward}),
     Seen(Phase::kOther, {kTensor, kOutlivedOperator, kReadInBackward, kDerived})},
    {"cast_parameter", KeptAs::kActivation, Seen(Phase::kForward, {kCastParameter}), Seen(Phase::kForward, {})},
    {"workspace", KeptAs::kTemporary, Seen(Phase::kBackward, {kInOperator, kOutlivedOperator, kOutlivedNode}),
     Seen(Phase::kBackward, {kInOperator, kOutlivedOperator, kOutlivedNode, kTensor})},
    {"recomputed", KeptAs::kActivation, Seen(Phase::kRecompute, {kReadInBackward}), Seen(Phase::kRecompute, {})},
    {"saved_in_backward", KeptAs::kActivation,
     Seen(Phase::kBackward, {kDifferentiable, kReadInBackward, kOutlivedNode}),
     Seen(Phase::kBackward, {kReadInBackward, kOutlivedNode})},
    {"saved_for_backward", KeptAs::kActivation, Seen(Phase::kForward, {kReadInBackward}),
     Seen(Phase::kForward, {kReadOutside})},
    {"released_by_backward", KeptAs::kActivation, Seen(Phase::kForward, {kFreedInBackward}),
     Seen(Phase::kForward, {kBackwardBegan})},
    {"awaits_backward", KeptAs::kActivation, Seen(Phase::kForward, {kLeftLive, kGradMode}),
     Seen(Phase::kForward, {kLeftLive, kGradMode, kBackwardBegan})},
    {"graph_dropped", KeptAs::kActivation, Seen(Phase::kForward, {kOutlivedModel, kGradMode}),
     Seen(Phase::kForward, {kOutlivedModel, kGradMode, kDifferentiable})},
    {"gradient_asked_for", KeptAs::kGradient, Seen(Phase::kBackward, {kOutlivedNode, kReadOutside}),
     Seen(Phase::kBackward, {kOutlivedNode, kReadInBackward})},
    {"flows_through_backward", KeptAs::kAutogradDetail, Seen(Phase::kBackward, {kOutlivedNode}),
     Seen(Phase::kBackward, {})},
    {"scratch_of_node", KeptAs::kTemporary, Seen(Phase::kBackward, {}), Seen(Phase::kBackward, {kOutlivedNode})},
    {"scratch_of_step", KeptAs::kTemporary, Seen(Phase::kOptimizer, {}), Seen(Phase::kOptimizer, {kOutlivedStep})},
    {"not_saved", KeptAs::kTemporary, Seen(Phase::kForward, {kOutlivedOperator}),
     Seen(Phase::kForward, {kOutlivedOperator, kReadInBackward})},
    {"scratch_of_operator", KeptAs::kTemporary, Seen(Phase::kOther, {}), Seen(Phase::kOther, {kOutlivedOperator})},
    {"computed_from_model", KeptAs::kTemporary, Seen(Phase::kOther, {kOutlivedOperator, kTensor, kDerived}),
     Seen(Phase::kOther, {kOutlivedOperator, kTensor})},
    {"nothing_known", KeptAs::kUnknown, Found(Seen(Phase::kOther, {kTensor, kOutlivedOperator}), true),
     Found(Seen(Phase::kOther, {kTensor, kOutlivedOperator}), false)},
};

class EachRule : public ::testing::TestWithParam<Case> {};

TEST_P(EachRule, SaysWhatItIsAbout) {
  EXPECT_EQ(Found(GetParam().holds).name, GetParam().rule);
  EXPECT_EQ(Found(GetParam().holds).kept, GetParam().kept);
  EXPECT_NE(Found(GetParam().does_not).name, GetParam().rule);
}

INSTANTIATE_TEST_SUITE_P(Rules, EachRule, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.rule); });

TEST(Rules, AreTestedEachOnce) {
  std::set<std::string_view> tested, all;
  for (const Case& test : kCases) tested.insert(test.rule);
  for (const Rule& rule : Rules()) all.insert(rule.name);
  EXPECT_EQ(tested, all);
  EXPECT_EQ(all.size(), Rules().size());
}

}  // namespace
}  // namespace memoir
