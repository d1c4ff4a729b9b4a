#include "tools/model/replay/events/holder_events.h"

namespace memoir {

void HolderEvents::ShowHeldTensors(ThreadReplay& thread, RunCursor& cursor) {
  auto event = context_.MakeEvent<HeldTensorsEvent>(thread.id(), cursor.tick);
  event.is_module = cursor.kind() == v1::MODULE_HOLDS;
  event.more = cursor.kind() == v1::HOLDS_MORE;
  event.is_gradient = cursor.kind() == v1::GRADIENT_OF;
  if (event.is_module) event.module = context_.ids().module(cursor.run.module.Next32());
  if (cursor.kind() == v1::OPTIMIZER_HOLDS) event.owner = cursor.run.owner.Next();
  const SignatureEntry signature = context_.ids().signature(cursor.run.signature.Next32());
  tensors_.Decode(cursor, signature.tensors);
  DecodeNames(cursor, event.is_module || event.more ? signature.holds_names : 0);
  event.signature = signature.id;
  event.tensors = tensors_.tensors();
  event.names = names_;
  context_.visitor().OnHolds(event);
}

// Leaves `names_` empty if all names are unknown, as in an optimizer's event.
void HolderEvents::DecodeNames(RunCursor& cursor, std::uint32_t count) {
  names_.clear();
  if (!context_.options().tensors || cursor.run.holds_name.empty()) return;
  bool any = false;
  for (; count > 0; --count) {
    names_.push_back(context_.ids().name(cursor.run.holds_name.Next32()).id);
    any = any || names_.back().valid();
  }
  if (!any) names_.clear();
}

}  // namespace memoir
