#include "tools/analyze/checkpointing/call_tree.h"

#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {

AlikeNumber CallTree::AlikeOf(ModuleId module, const Dictionary& dictionary) {
  if (!module.valid()) return kNoAlike;
  if (module.value >= alike_of_.size()) alike_of_.resize(module.value + 1, kNoAlike);
  AlikeNumber& number = alike_of_[module.value];
  if (number != kNoAlike) return number;
  const Module& named = dictionary.module(module);
  const std::string pattern = WithLayersMerged(named.path);
  const auto [known, added] = by_key_.try_emplace(named.root + "\n" + pattern + "\n" + named.class_name,
                                                  static_cast<AlikeNumber>(alike_.size()));
  if (added) alike_.push_back({named.root, pattern, named.class_name, {}});
  number = known->second;
  alike_[number].modules.insert(module.value);
  return number;
}

CallNumber CallTree::Enter(const ModuleEvent& event, const Dictionary& dictionary) {
  if (!event.thread.valid()) return 0;
  if (event.thread.value >= threads_.size()) threads_.resize(event.thread.value + 1);
  std::vector<CallNumber>& open = threads_[event.thread.value];
  const CallNumber caller = open.empty() ? 0 : open.back();
  if (event.again || event.phase != Phase::kForward) {
    open.push_back(event.again ? caller : 0);
    return 0;
  }
  ModuleCall call{caller, calls_[caller].depth + 1, AlikeOf(event.module, dictionary)};
  for (CallNumber around = caller; around != 0; around = calls_[around].caller) {
    if (calls_[around].alike == call.alike) call.alike = kNoAlike;
  }
  const auto number = static_cast<CallNumber>(calls_.size());
  calls_.push_back(call);
  open.push_back(number);
  return number;
}

CallNumber CallTree::CommonCaller(CallNumber a, CallNumber b) const {
  while (a != b) {
    if (calls_[a].depth >= calls_[b].depth) {
      a = calls_[a].caller;
    } else {
      b = calls_[b].caller;
    }
  }
  return a;
}

}  // namespace memoir
