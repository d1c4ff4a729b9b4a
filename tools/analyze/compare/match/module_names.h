// Finds common names for the modules of two captures. A common name omits modules that only wrap a model or a part of
// it, and contains the class of the matching model in B.
//
//     module.layers.3.mlp (DistributedDataParallel)     ──►  layers.3.mlp of Net
//     _orig_mod.layers.3.mlp (OptimizedModule)          ──►  layers.3.mlp of Net
//     layers.3._fsdp_wrapped_module.mlp (Net)           ──►  layers.3.mlp of Net
#ifndef TOOLS_ANALYZE_COMPARE_MATCH_MODULE_NAMES_H_
#define TOOLS_ANALYZE_COMPARE_MATCH_MODULE_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/compare/match/layer_alignment.h"
#include "tools/analyze/compare/match/renames.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

// Removes `_orig_mod`, `_fsdp_wrapped_module` and `_checkpoint_wrapped_module` anywhere in the path, and `module` at
// its beginning.
std::string PathWithoutWrappers(std::string_view path);

// A module under its common name.
struct CommonModule {
  std::string root;  // class of the outermost module
  std::string path;  // empty: the outermost module itself
  const std::string& place() const { return path.empty() ? root : path; }
  bool IsInside(const CommonModule& outer) const {
    return root == outer.root && path != outer.path && (outer.path.empty() || path.starts_with(outer.path + "."));
  }
  auto operator<=>(const CommonModule&) const = default;
};

// Outermost modules match if their classes without wrappers are equal. If exactly one outermost module of each
// capture has no match, these two match. Numbered modules match by LayerAlignment (layer_alignment.h).
class ModuleNames {
 public:
  using Shapes = std::map<std::string, std::string>;  // shapes of a module's parameters, by Module::full_path()

  // `of_a`, `of_b`: all modules of the two captures. `renames` apply to names of A.
  ModuleNames(const std::vector<Module>& of_a, const std::vector<Module>& of_b, Renames& renames,
              const Shapes& shapes_a = {}, const Shapes& shapes_b = {});
  CommonModule CommonNameInA(const Module& module) const;
  CommonModule CommonNameInB(const Module& module) const;
  // Returns the outermost modules of A and B that match although their classes differ.
  const std::map<std::string, std::string>& renamed_roots() const { return renamed_; }
  const std::set<std::string>& roots_of_a() const { return roots_a_; }
  const std::set<std::string>& roots_of_b() const { return roots_b_; }
  const std::vector<LayerCount>& layer_counts() const { return alignment_.counts(); }

 private:
  using Roots = std::map<std::string, std::string>;  // class of the outermost module, and its class without wrappers
  static Roots RootsOf(const std::vector<Module>& modules);
  CommonModule BeforeAlignment(const Module& module) const;  // for a module of A

  Renames& renames_;
  Roots of_a_, of_b_;
  std::map<std::string, std::string> renamed_;
  std::set<std::string> roots_a_, roots_b_;
  LayerAlignment alignment_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCH_MODULE_NAMES_H_
