// The blocks that a selection of modules and sizes is of (Selection::module and min_bytes).
//
// A pattern of modules matches a module and all inside it: "layers.3" is layers.3 and layers.3.mlp; '*' stands for any
// characters. The class of the outermost module may stand before the path, or for all of it: "Transformer.layers.3".
#ifndef TOOLS_ANALYZE_PASS_BLOCK_FILTER_H_
#define TOOLS_ANALYZE_PASS_BLOCK_FILTER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/dictionary.h"
#include "tools/model/event.h"

namespace memoir {

bool IsOfModules(const Module& module, const std::string& pattern);

class BlockFilter {
 public:
  explicit BlockFilter(const Selection& selection) : module_(selection.module), min_bytes_(selection.min_bytes) {}
  bool takes_all() const { return module_.empty() && min_bytes_ == 0; }
  // Remembers what it has seen, for Found. Modules are those of a replay with ReplayOptions::modules.
  bool Takes(const Block& block, const Dictionary& dictionary);
  // NotFound: no block was taken; says what there is instead. `path`: of the capture.
  absl::Status Found(const std::string& path) const;

 private:
  bool IsOfModules(ModuleId module, const Dictionary& dictionary);

  const std::string module_;
  const std::uint64_t min_bytes_;
  std::vector<std::int8_t> modules_;  // by ModuleId; -1: not looked at
  std::set<std::string> outermost_;   // parts of their paths, a few, for the message
  bool any_ = false, any_of_module_ = false;
  std::uint64_t largest_ = 0;  // of the modules
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_BLOCK_FILTER_H_
