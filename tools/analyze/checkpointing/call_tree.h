// The calls of modules in a replay as a tree, by caller, and which calls are of modules that are alike.
//
// Every replay of the same processes numbers calls and groups in the same way, so that a pass can use what the pass
// before found of a call. Calls inside autograd, which recompute a forward, are not in the tree.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CALL_TREE_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CALL_TREE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/model/capture.h"

namespace memoir {

// From 1 on, over all processes; 0: outside of all modules.
using CallNumber = std::uint32_t;
// Modules of one class whose paths differ in numbers alone: "layers.*.mlp".
using AlikeNumber = std::uint32_t;
inline constexpr AlikeNumber kNoAlike = 0xffffffffu;

struct ModuleCall {
  CallNumber caller = 0;
  std::uint32_t depth = 0;       // calls around it and itself
  AlikeNumber alike = kNoAlike;  // none also inside a call of the same: only the outermost counts
};

struct AlikeModules {
  std::string root, path, class_name;
  absl::flat_hash_set<std::uint32_t> modules;  // ModuleId
};

class CallTree {
 public:
  CallTree() : calls_(1) {}

  // Of a ModuleEvent that is no gradient's. Returns the call that began; 0: none that counts.
  CallNumber Enter(const ModuleEvent& event, const Dictionary& dictionary);
  // `ended`: with the number of each call that ends, innermost first.
  template <class Function>
  void Exit(const ModuleEvent& event, Function ended) {
    Shorten(event.thread, event.depth, ended);
  }
  template <class Function>
  void EndProcess(Function ended) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) Shorten(ThreadId{thread}, 0, ended);
  }

  CallNumber Innermost(ThreadId thread) const {
    if (!thread.valid() || thread.value >= threads_.size() || threads_[thread.value].empty()) return 0;
    return threads_[thread.value].back();
  }
  const ModuleCall& operator[](CallNumber call) const { return calls_[call]; }
  // The innermost call that both are in.
  CallNumber Common(CallNumber a, CallNumber b) const;
  AlikeNumber AlikeOf(ModuleId module, const Dictionary& dictionary);
  const std::vector<AlikeModules>& alike() const { return alike_; }

 private:
  template <class Function>
  void Shorten(ThreadId thread, std::size_t depth, Function ended) {
    if (!thread.valid() || thread.value >= threads_.size()) return;
    std::vector<CallNumber>& open = threads_[thread.value];
    while (open.size() > depth) {
      const CallNumber call = open.back();
      open.pop_back();
      if (call != 0 && (open.empty() || open.back() != call)) ended(call);
    }
  }

  std::vector<ModuleCall> calls_;                 // by CallNumber
  std::vector<std::vector<CallNumber>> threads_;  // open calls by ThreadId, outermost first; 0: one that makes again
  std::vector<AlikeModules> alike_;
  std::vector<AlikeNumber> alike_of_;  // by ModuleId
  std::map<std::string, AlikeNumber> by_key_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CALL_TREE_H_
