// The module calls of a replay as a tree, by caller, and the groups of alike modules.
//
// Every replay of the same processes numbers calls and groups in the same way, so a pass can use the results of an
// earlier pass. The tree contains only calls of forward: a module call in backward recomputes an earlier call.
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

// Number of a call, from 1, over all processes. 0: outside of all modules.
using CallNumber = std::uint32_t;
// Number of a group of alike modules: modules of one class whose paths differ only in numbers, "layers.*.mlp".
using AlikeNumber = std::uint32_t;
inline constexpr AlikeNumber kNoAlike = 0xffffffffu;

struct ModuleCall {
  CallNumber caller = 0;
  std::uint32_t depth = 0;  // the number of calls that contain this call, plus one
  // kNoAlike if the module is unknown. Also kNoAlike if the call lies inside of a call of the same group, because only
  // the outer call counts.
  AlikeNumber alike = kNoAlike;
};

struct AlikeModules {
  std::string root, path, class_name;
  absl::flat_hash_set<std::uint32_t> modules;  // ModuleId
};

class CallTree {
 public:
  CallTree() : calls_(1) {}

  // Begins the call of a module. Returns its number. 0 if the call is not part of the tree. Must not be called if
  // `event.of_gradient`.
  CallNumber Enter(const ModuleEvent& event, const Dictionary& dictionary);
  // Calls `ended` with the number of each call that ends, innermost first.
  template <class Function>
  void Exit(const ModuleEvent& event, Function ended) {
    Shorten(event.thread, event.depth, ended);
  }
  // Ends all calls that are still open. Calls `ended` as Exit does.
  template <class Function>
  void EndProcess(Function ended) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) Shorten(ThreadId{thread}, 0, ended);
  }

  CallNumber InnermostCall(ThreadId thread) const {
    if (!thread.valid() || thread.value >= threads_.size() || threads_[thread.value].empty()) return 0;
    return threads_[thread.value].back();
  }
  const ModuleCall& operator[](CallNumber call) const { return calls_[call]; }
  // Returns the innermost call that contains both calls. 0 if there is no such call.
  CallNumber CommonCaller(CallNumber a, CallNumber b) const;
  // Returns the call at this depth: `call` itself, or a call that contains it. 0 if `call` is less deep.
  CallNumber AtDepth(CallNumber call, std::uint32_t depth) const {
    while (calls_[call].depth > depth) call = calls_[call].caller;
    return calls_[call].depth == depth ? call : 0;
  }
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
  std::vector<std::vector<CallNumber>> threads_;  // open calls by ThreadId, outermost first; 0: not a forward call
  std::vector<AlikeModules> alike_;
  std::vector<AlikeNumber> alike_of_;  // by ModuleId
  std::map<std::string, AlikeNumber> by_key_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CALL_TREE_H_
