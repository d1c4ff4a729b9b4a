// Selects blocks by module and size (Selection::module and min_bytes).
//
// A pattern matches a module and all modules inside of it: "layers.3" matches layers.3 and layers.3.mlp. '*' matches
// any characters. A pattern may begin with the class of the outermost module, or consist of it: "Transformer.layers.3".
#ifndef TOOLS_ANALYZE_PASS_WINDOW_BLOCK_FILTER_H_
#define TOOLS_ANALYZE_PASS_WINDOW_BLOCK_FILTER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

// Returns true if `pattern` matches `module`.
bool IsOfModules(const Module& module, const std::string& pattern);

class BlockFilter {
 public:
  explicit BlockFilter(const Selection& selection) : module_(selection.module), min_bytes_(selection.min_bytes) {}
  bool selects_all() const { return module_.empty() && min_bytes_ == 0; }
  // Returns true if the block is selected. Also notes names and sizes for the message of CheckFound. Modules are known
  // only in a replay with ReplayOptions::modules.
  bool Selects(const Block& block, const Dictionary& dictionary);
  // Returns NotFound if no block was selected; the message names modules or sizes that exist. `path` names the capture.
  absl::Status CheckFound(const std::string& path) const;

 private:
  bool IsOfModules(ModuleId module, const Dictionary& dictionary);

  const std::string module_;
  const std::uint64_t min_bytes_;
  std::vector<std::int8_t> modules_;  // by ModuleId: 1 if the pattern matches, 0 if not, -1 if not determined yet
  std::set<std::string> outermost_;   // names of some outermost modules, for the message
  // Whether a block was selected, and whether a block belonged to a selected module, whatever its size.
  bool any_ = false, any_of_module_ = false;
  std::uint64_t largest_ = 0;  // largest block of the selected modules
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_WINDOW_BLOCK_FILTER_H_
