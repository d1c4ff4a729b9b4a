#include "tools/analyze/categories/evidence/state/module_calls.h"

#include <algorithm>
#include <cstddef>

namespace memoir {

bool OpenModuleCalls::Contains(std::uint64_t module_call) const {
  return std::ranges::find(module_calls, module_call) != module_calls.end();
}

void ModuleCalls::Enter(const ModuleEvent& event) {
  OpenModuleCalls& open = threads_.Of(event.thread);
  open.module_calls.resize(event.depth);
  open.module_calls.push_back(++module_calls_);
  if (event.depth != 0) return;
  ++model_calls_;
  open.model_call = module_calls_;
  open.model = event.module;
}

void ModuleCalls::Exit(const ModuleEvent& event) {
  OpenModuleCalls& open = threads_.Of(event.thread);
  open.module_calls.resize(std::min<std::size_t>(open.module_calls.size(), event.depth));
  if (event.depth == 0) open.model_call = 0;
}

void ModuleCalls::EndProcess() {
  threads_.clear();
  model_calls_ = 0;
}

}  // namespace memoir
