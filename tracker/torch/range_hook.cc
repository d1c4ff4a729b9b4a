#include "tracker/torch/range_hook.h"

#include <ATen/record_function.h>

#include <memory>
#include <unordered_set>

#include "interpose/ring.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/range_record.h"

namespace memoir {
namespace {

RangeSource Source(at::RecordScope scope) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return RangeSource::kBackward;
  if (scope == at::RecordScope::USER_SCOPE) return RangeSource::kUser;
  return RangeSource::kFunction;
}

std::unique_ptr<at::ObserverContext> OnBegin(const at::RecordFunction& range) {
  if (!RecordingEnabled()) return nullptr;
  RangeStart start{};
  start.source = Source(range.scope());
  start.name = FindOperatorName(range);
  start.text = range.name();
  start.sequence = range.seqNr();
  if (start.source == RangeSource::kBackward)
    start.forward_thread = static_cast<std::uint32_t>(range.forwardThreadId());
  if (range.isAsync()) {
    RecordInstantRange(start, range.inputs());
  } else {
    BeginRange(&range, start, range.inputs());
  }
  return nullptr;
}

void OnEnd(const at::RecordFunction& range, at::ObserverContext*) {
  EndRange(&range, c10::ArrayRef<const c10::IValue>(range.outputs().data(), range.outputs().size()));
}

at::CallbackHandle AddCallback(RangeScopes scopes) {
  std::unordered_set<at::RecordScope, std::hash<at::RecordScope>> wanted = {at::RecordScope::BACKWARD_FUNCTION,
                                                                            at::RecordScope::USER_SCOPE};
  if (scopes == RangeScopes::kAll) wanted.insert(at::RecordScope::FUNCTION);
  return at::addGlobalCallback(
      at::RecordFunctionCallback(&OnBegin, &OnEnd).needsInputs(true).needsOutputs(true).scopes(wanted));
}

}  // namespace

void InstallRangeHook(RangeScopes scopes) {
  static at::CallbackHandle handle = 0;
  static RangeScopes installed = scopes;
  if (handle != 0 && installed == scopes) return;
  if (handle != 0) at::removeCallback(handle);
  handle = AddCallback(scopes);
  installed = scopes;
}

}  // namespace memoir
