#include "simcuda/torch_values/host/operator_plan.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memoir {
namespace {

// Operators that write in place without reading the previous values.
constexpr std::array<std::string_view, 12> kOverwriting = {"aten::fill_",      "aten::zero_",    "aten::copy_",
                                                           "aten::normal_",    "aten::uniform_", "aten::random_",
                                                           "aten::bernoulli_", "aten::cauchy_",  "aten::log_normal_",
                                                           "aten::geometric_", "aten::eye_",     "aten::exponential_"};

// Operators that make or move memory, or that record something. Their kernels write no values. The copies that they
// make are real copies on the simulated device.
constexpr std::array<std::string_view, 12> kWithoutValues = {"aten::empty",
                                                             "aten::empty_strided",
                                                             "aten::resize_",
                                                             "aten::resize_as_",
                                                             "aten::set_",
                                                             "aten::record_stream",
                                                             "aten::_local_scalar_dense",
                                                             "aten::_pin_memory",
                                                             "aten::_copy_from",
                                                             "aten::is_set_to",
                                                             "aten::_efficientzerotensor",
                                                             "aten::_cudnn_init_dropout_state"};

bool IsTensor(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::OptionalType)
    return IsTensor(type->expectRef<c10::OptionalType>().getElementType());
  if (type->kind() == c10::TypeKind::ListType) return IsTensor(type->expectRef<c10::ListType>().getElementType());
  return type->kind() == c10::TypeKind::TensorType;
}

// Operators that update their running statistics, although their schema does not declare it.
constexpr std::array<std::string_view, 4> kWithRunningStatistics = {
    "aten::native_batch_norm", "aten::batch_norm_gather_stats", "aten::batch_norm_gather_stats_with_counts",
    "aten::batch_norm_update_stats"};

bool IsWritten(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool IsUpdatedUndeclared(const c10::FunctionSchema& schema, const c10::Argument& argument) {
  return std::ranges::count(kWithRunningStatistics, schema.name()) > 0 && argument.name().starts_with("running_");
}

ArgumentUse UseOf(const c10::FunctionSchema& schema, const c10::Argument& argument) {
  if (IsUpdatedUndeclared(schema, argument)) return ArgumentUse::kUpdated;
  if (!IsWritten(argument)) return ArgumentUse::kRead;
  const bool overwritten = argument.kwarg_only() || std::ranges::count(kOverwriting, schema.name()) > 0;
  return overwritten ? ArgumentUse::kOverwritten : ArgumentUse::kUpdated;
}

}  // namespace

OperatorPlan PlanOf(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OperatorPlan plan;
  plan.name = schema.name();
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.name() == "generator") plan.generator = static_cast<std::int64_t>(plan.uses.size());
    plan.uses.push_back(UseOf(schema, argument));
  }
  for (const c10::Argument& result : schema.returns())
    plan.fresh.push_back(IsTensor(result.type()) && result.alias_info() == nullptr);
  plan.copies = plan.name == "aten::copy_";
  plan.answers = plan.name == "aten::equal";
  plan.shape = FindShapeRule(plan.name);
  plan.equivalent = FindHostEquivalent(plan.name);
  for (std::size_t i = 0; plan.equivalent != nullptr && i < plan.uses.size(); ++i) {
    if ((plan.equivalent->unread >> i & 1) != 0) plan.uses[i] = ArgumentUse::kUnread;
    if ((plan.equivalent->updated >> i & 1) != 0) plan.uses[i] = ArgumentUse::kUpdated;
  }
  plan.draws = plan.generator >= 0 || (plan.equivalent != nullptr && plan.equivalent->draws);
  const bool draws_unseen = !plan.draws && op.hasTag(at::Tag::nondeterministic_seeded);
  plan.computed =
      plan.equivalent != nullptr || (!draws_unseen && op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU));
  return plan;
}

bool WritesValues(const c10::OperatorHandle& op) {
  if (!op.hasSchema()) return false;
  const c10::FunctionSchema& schema = op.schema();
  const std::string_view name = schema.name();
  if (!name.starts_with("aten::") || std::ranges::count(kWithoutValues, name) > 0) return false;
  // aten::copy_ is the only operator that has no CUDA kernel and launches kernels itself. aten::convolution calls
  // operators that have no CPU kernels.
  const bool composed = name == "aten::copy_" || name == "aten::convolution";
  if (!composed && !op.hasKernelForDispatchKey(c10::DispatchKey::CUDA)) return false;
  const auto fresh = [](const c10::Argument& r) { return IsTensor(r.type()) && r.alias_info() == nullptr; };
  return std::ranges::any_of(schema.returns(), fresh) || std::ranges::any_of(schema.arguments(), IsWritten) ||
         name == "aten::equal";
}

}  // namespace memoir
