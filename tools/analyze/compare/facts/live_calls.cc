#include "tools/analyze/compare/facts/live_calls.h"

#include <algorithm>

namespace memoir {

void CallNumbers::Enter(const ModuleEvent& event) {
  if (event.depth != 0 || event.again || event.phase != Phase::kForward) return;
  called_.push_back(event.module);
  open_[event.thread] = called_.size();
}

void CallNumbers::Exit(const ModuleEvent& event) {
  if (event.depth == 0) open_[event.thread] = 0;
}

std::map<std::string, std::size_t> CallNumbers::CountLive(const std::map<std::size_t, std::uint64_t>& bytes,
                                                          const Dictionary& dictionary) const {
  std::map<ModuleId, std::vector<std::uint64_t>> by_model;
  for (const auto& [call, of_call] : bytes) {
    if (call != 0) by_model[called_[call - 1]].push_back(of_call);
  }
  std::map<std::string, std::size_t> live;
  for (const auto& [model, of_calls] : by_model) {
    const std::uint64_t largest = std::ranges::max(of_calls);
    const auto count = std::ranges::count_if(of_calls, [&](std::uint64_t of_call) { return 10 * of_call >= largest; });
    live[dictionary.module(model).full_path()] += static_cast<std::size_t>(count);
  }
  return live;
}

}  // namespace memoir
