// The JSON lines for tensors of modules and optimizers, and for gradients that autograd leaves.
#include "tools/view/events/event_json.h"

namespace memoir {

void EventJsonWriter::AddNames(absl::Span<const NameId> names) {
  if (names.empty()) return;
  lines_ += R"(,"names":[)";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) lines_ += ',';
    lines_ += names[i].valid() ? QuotedName(names[i]) : "null";
  }
  lines_ += ']';
}

void EventJsonWriter::OnHolds(const HoldsEvent& event) {
  const bool is_optimizer = !event.is_module && !event.is_gradient && !event.more;
  Begin(event.more          ? "holds_more"
        : event.is_module   ? "module_holds"
        : event.is_gradient ? "gradient_of"
                            : "optimizer_holds",
        event);
  if (event.module.valid()) AddText("module", state_->dictionary().module(event.module).path);
  if (event.module.valid()) AddText("root", state_->dictionary().module(event.module).root);
  if (is_optimizer) AddNumber("optimizer", event.owner);
  AddSignature(event.signature);
  AddNames(event.names);
  AddTensors(event.tensors);
  End();
}

void EventJsonWriter::AddModuleEvent(std::string_view kind, const ModuleEvent& event) {
  Begin(kind, event);
  AddModule(event.module, event.phase);
  if (event.module.valid()) AddText("class", state_->dictionary().module(event.module).class_name);
  AddNumber("depth", event.depth);
  if (event.of_gradient) lines_ += R"(,"of_gradient":true)";
  End();
}

}  // namespace memoir
