// Checks for each rule which evidence it applies to, which category it gives, and which further signs lead to another
// rule. evidence_test.cc checks the signs that small captures contain.
#include "tools/analyze/categories/rules.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

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

enum class Flag : std::uint8_t { kTrains, kFound, kCompiled, kInSnapshot };

Evidence With(Evidence evidence, Flag flag) {
  switch (flag) {
    case Flag::kTrains:
      evidence.trains = true;
      break;
    case Flag::kFound:
      evidence.found = true;
      break;
    case Flag::kCompiled:
      evidence.compiled = true;
      break;
    case Flag::kInSnapshot:
      evidence.in_snapshot = true;
      break;
  }
  return evidence;
}

struct Case {
  std::string_view rule;
  Category kept;
  Evidence holds;               // without any one of these signs, another rule applies
  std::vector<Sign> spoilt_by;  // with any one of these signs, another rule applies
  std::vector<Flag> spoilt_if = {};
};

const Case kCases[] = {
    {"parameter_of_module", Category::kParameter, Seen(Phase::kOther, {kModuleParameter}), {kGathered}},
    {"parameter_of_optimizer", Category::kParameter, Seen(Phase::kOther, {kOptimizedParameter}), {kModuleParameter}},
    {"leaf_with_gradients",
     Category::kParameter,
     With(Seen(Phase::kOther, {kLeaf, kLeafAgain}), Flag::kTrains),
     {kModuleParameter, kOptimizedParameter}},
    {"leaf_of_forward", Category::kParameter, Seen(Phase::kForward, {kWantsGradient, kOutlivedModel}), {kDerived}},
    {"moved_parameter", Category::kParameter, Seen(Phase::kOther, {kMovedParameter}), {kModuleParameter}},
    {"gathered_parameter", Category::kParameter, Seen(Phase::kForward, {kGathered}), {}},
    {"buffer_of_module", Category::kBuffer, Seen(Phase::kOther, {kModuleBuffer}), {kModuleParameter}},
    {"gradient_of_parameter", Category::kGradient, Seen(Phase::kBackward, {kParameterGradient}), {kModuleBuffer}},
    {"state_of_optimizer", Category::kOptimizerState, Seen(Phase::kOther, {kOptimizerState}), {kParameterGradient}},
    {"reduced_bucket", Category::kGradient, Seen(Phase::kOther, {kReduced}), {kParameterGradient}},
    {"scattered_gradient", Category::kGradient, Seen(Phase::kBackward, {kScattered}), {kParameterGradient}},
    {"bucket_of_views", Category::kGradient, Seen(Phase::kForward, {kCutLikeLeaves}), {kParameterGradient}},
    {"kept_by_step", Category::kOptimizerState, Seen(Phase::kOptimizer, {kOutlivedStep}), {kParameterGradient}},
    {"state_to_come", Category::kOptimizerState, Seen(Phase::kOther, {kLeftLive, kLikeLeaf}), {kParameterGradient}},
    {"copy_of_parameter",
     Category::kParameter,
     Seen(Phase::kOther, {kCopiesParameter, kOutlivedOperator}),
     {kReadInBackward, kFreedInBackward, kNodeArgument, kModuleBuffer}},
    {"state_of_generator", Category::kBuffer, Seen(Phase::kOther, {kOfGenerator}), {kModuleBuffer}},
    {"second_copy", Category::kParameter, Seen(Phase::kOther, {kSecondCopy}), {kModuleBuffer}},
    {"loaded_input", Category::kInput, Seen(Phase::kOther, {kLoaded}), {kModuleBuffer}},
    {"leaf_input", Category::kInput, With(Seen(Phase::kOther, {kLeaf}), Flag::kTrains), {kDerived, kLeafAgain}},
    {"program_input",
     Category::kInput,
     Seen(Phase::kOther, {kTensor, kOutlivedOperator}),
     {kDerived, kDifferentiable, kLoaded, kCarried},
     {Flag::kFound, Flag::kCompiled}},
    {"cast_parameter", Category::kActivation, Seen(Phase::kForward, {kCastParameter}), {kModuleBuffer}},
    {"live_in_snapshot",
     Category::kActivation,
     With(Seen(Phase::kForward, {}), Flag::kInSnapshot),
     {kCastParameter, kModuleBuffer}},
    {"workspace",
     Category::kTemporary,
     Seen(Phase::kBackward, {kInOperator, kOutlivedOperator}),
     {kTensor, kFreedInBackward},
     {Flag::kFound}},
    {"autotuning", Category::kTemporary, Seen(Phase::kCompile, {kTuning}), {}},
    {"made_while_compiling", Category::kTemporary, Seen(Phase::kCompile, {}), {}},
    {"recomputed", Category::kActivation, Seen(Phase::kRecompute, {kReadInBackward}), {kParameterGradient}},
    {"saved_in_backward",
     Category::kActivation,
     Seen(Phase::kBackward, {kDifferentiable, kReadInBackward}),
     {kParameterGradient}},
    {"graph_retained", Category::kActivation, Seen(Phase::kForward, {kRetained}), {kFreedInBackward, kModuleBuffer}},
    {"saved_for_backward",
     Category::kActivation,
     Seen(Phase::kForward, {kReadInBackward}),
     {kNodeArgument, kCastParameter}},
    {"released_by_backward",
     Category::kActivation,
     Seen(Phase::kForward, {kFreedInBackward}),
     {kNodeArgument, kReadInBackward}},
    {"saved_unread", Category::kActivation, Seen(Phase::kForward, {kSaved}), {kReadInBackward, kFreedInBackward}},
    {"awaits_backward",
     Category::kActivation,
     Seen(Phase::kForward, {kLeftLive, kPending}),
     {kDifferentiable, kPassedOver}},
    {"graph_dropped",
     Category::kActivation,
     Seen(Phase::kForward, {kOutlivedModel, kGradMode, kPending}),
     {kDifferentiable}},
    {"carried_between_calls", Category::kBuffer, Seen(Phase::kForward, {kCarried}), {kReadInBackward}},
    {"gradient_to_come", Category::kGradient, Seen(Phase::kBackward, {kLeftLive, kToLeaf}), {kParameterGradient}},
    {"gradient_asked_for", Category::kGradient, Seen(Phase::kBackward, {kOutlivedNode, kReadOutside}), {kModuleBuffer}},
    {"flows_through_backward", Category::kAutogradDetail, Seen(Phase::kBackward, {kOutlivedNode}), {kReadOutside}},
    {"scratch_of_node", Category::kTemporary, Seen(Phase::kBackward, {}), {kOutlivedNode, kNodeArgument}},
    {"scratch_of_step", Category::kTemporary, Seen(Phase::kOptimizer, {}), {kOutlivedStep}},
    {"kept_by_program",
     Category::kActivation,
     Seen(Phase::kForward, {kOutlivedModel, kKeptForSteps}),
     {kReadInBackward, kFreedInBackward, kCarried}},
    {"not_saved", Category::kTemporary, Seen(Phase::kForward, {}), {kReadInBackward, kFreedInBackward}},
    {"scratch_of_operator", Category::kTemporary, Seen(Phase::kOther, {}), {kOutlivedOperator}, {Flag::kFound}},
    {"computed_from_model",
     Category::kTemporary,
     Seen(Phase::kOther, {kOutlivedOperator, kDerived}),
     {kReadInBackward, kFreedInBackward}},
    {"nothing_known", Category::kUnknown, With(Seen(Phase::kOther, {}), Flag::kFound), {kDerived}},
};

class EachRule : public ::testing::TestWithParam<Case> {};

TEST_P(EachRule, SaysWhatItIsAbout) {
  const Case& test = GetParam();
  EXPECT_EQ(Found(test.holds).name, test.rule);
  EXPECT_EQ(Found(test.holds).kept, test.kept);
}

TEST_P(EachRule, NeedsAllOfIt) {
  const Case& test = GetParam();
  for (std::uint64_t signs = test.holds.signs; signs != 0; signs &= signs - 1) {
    Evidence less = test.holds;
    less.signs &= ~(signs & -signs);
    EXPECT_NE(Found(less).name, test.rule) << "without " << (signs & -signs);
  }
}

TEST_P(EachRule, IsSpoilt) {
  const Case& test = GetParam();
  for (const Sign sign : test.spoilt_by) {
    Evidence more = test.holds;
    more.Note(sign);
    EXPECT_NE(Found(more).name, test.rule) << "with " << static_cast<std::uint64_t>(sign);
  }
  for (const Flag flag : test.spoilt_if) EXPECT_NE(Found(With(test.holds, flag)).name, test.rule);
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

TEST(Rules, KnowLeavesOfProgramsWithoutModules) {
  for (const Sign sign : {kLeaf, kWantsGradient}) {
    const Evidence leaf = Seen(Phase::kOther, {sign, kTensor, kOutlivedOperator});
    EXPECT_EQ(Found(leaf).name, "leaf_with_gradients");
    EXPECT_EQ(Found(With(leaf, Flag::kTrains)).name, "leaf_input");
  }
}

TEST(Rules, SayOfCompiledRegionsWhatBackwardDoes) {
  const Evidence made = With(Seen(Phase::kOther, {kTensor, kOutlivedOperator}), Flag::kCompiled);
  EXPECT_EQ(Found(made).name, "not_saved");
  Evidence freed = made;
  freed.Note(kFreedInBackward);
  EXPECT_EQ(Found(freed).name, "released_by_backward");
}

}  // namespace
}  // namespace memoir
