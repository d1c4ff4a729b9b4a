// Modules of two recordings under one name: without the wrappers around them, and with models matched.
//
//     module.layers.3.mlp (DistributedDataParallel)     ──►  layers.3.mlp of Net
//     _orig_mod.layers.3.mlp (OptimizedModule)          ──►  layers.3.mlp of Net
//     layers.3._fsdp_wrapped_module.mlp (Net)           ──►  layers.3.mlp of Net
#ifndef TOOLS_ANALYZE_COMPARE_MODULE_NAMES_H_
#define TOOLS_ANALYZE_COMPARE_MODULE_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/compare/renames.h"
#include "tools/model/dictionary.h"

namespace memoir {

// `_orig_mod`, `_fsdp_wrapped_module` and `_checkpoint_wrapped_module` wherever they stand, `module` at the beginning.
std::string PathWithoutWrappers(std::string_view path);

// A module under its common name.
struct CommonModule {
  std::string root;  // class of the outermost module
  std::string path;  // "": it itself
  const std::string& place() const { return path.empty() ? root : path; }
  auto operator<=>(const CommonModule&) const = default;
};

// Outermost modules match by their class without wrappers. Where each recording has one left that the other has not,
// these two match.
class ModuleNames {
 public:
  // All modules that the recordings show. `renames` are of the first.
  ModuleNames(const std::vector<Module>& of_a, const std::vector<Module>& of_b, Renames& renames);
  CommonModule OfA(const Module& module) const;
  CommonModule OfB(const Module& module) const;
  // Outermost modules that match without having the same class, of A and of B.
  const std::map<std::string, std::string>& renamed_roots() const { return renamed_; }
  const std::set<std::string>& roots_of_a() const { return roots_a_; }
  const std::set<std::string>& roots_of_b() const { return roots_b_; }

 private:
  using Roots = std::map<std::string, std::string>;  // outermost class ──► that without wrappers
  static Roots RootsOf(const std::vector<Module>& modules);

  Renames& renames_;
  Roots of_a_, of_b_;
  std::map<std::string, std::string> renamed_;
  std::set<std::string> roots_a_, roots_b_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MODULE_NAMES_H_
