#include "tools/analyze/compare/match/module_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace memoir {
namespace {

constexpr std::array<std::string_view, 3> kWrappers = {"_orig_mod", "_fsdp_wrapped_module",
                                                       "_checkpoint_wrapped_module"};

std::string RootOf(const std::map<std::string, std::string>& roots, const std::string& root) {
  const auto found = roots.find(root);
  return found == roots.end() ? root : found->second;
}

}  // namespace

std::string PathWithoutWrappers(std::string_view path) {
  std::string without;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const bool wrapper = std::ranges::find(kWrappers, part) != kWrappers.end() || (without.empty() && part == "module");
    if (!wrapper) without += (without.empty() ? "" : ".") + std::string(part);
    begin = end + 1;
  }
  return without;
}

ModuleNames::Roots ModuleNames::RootsOf(const std::vector<Module>& modules) {
  Roots roots;
  std::map<std::string, std::size_t> depth;
  for (const Module& module : modules) {
    roots.try_emplace(module.root, module.root);
    const bool inside = !module.path.empty() && PathWithoutWrappers(module.path).empty();
    if (!inside || module.path.size() <= depth[module.root]) continue;
    depth[module.root] = module.path.size();
    roots[module.root] = module.class_name;
  }
  return roots;
}

ModuleNames::ModuleNames(const std::vector<Module>& of_a, const std::vector<Module>& of_b, Renames& renames,
                         const Shapes& shapes_a, const Shapes& shapes_b)
    : renames_(renames), of_a_(RootsOf(of_a)), of_b_(RootsOf(of_b)) {
  for (auto& [root, inner] : of_a_) roots_a_.insert(inner = renames_.RenameName(inner));
  for (const auto& [root, inner] : of_b_) roots_b_.insert(inner);
  std::vector<std::string> only_a, only_b;
  std::ranges::set_difference(roots_a_, roots_b_, std::back_inserter(only_a));
  std::ranges::set_difference(roots_b_, roots_a_, std::back_inserter(only_b));
  if (only_a.size() == 1 && only_b.size() == 1) renamed_[only_a.front()] = only_b.front();
  std::vector<AlignedModule> aligned_a, aligned_b;
  const auto shapes_of = [](const Shapes& shapes, const Module& module) {
    const auto found = shapes.find(module.full_path());
    return found == shapes.end() ? "" : found->second;
  };
  for (const Module& module : of_a) {
    const CommonModule common = BeforeAlignment(module);
    aligned_a.push_back({common.root, common.path, module.class_name, shapes_of(shapes_a, module)});
  }
  for (const Module& module : of_b) {
    const CommonModule common = CommonNameInB(module);
    aligned_b.push_back({common.root, common.path, module.class_name, shapes_of(shapes_b, module)});
  }
  alignment_ = LayerAlignment(aligned_a, aligned_b);
}

CommonModule ModuleNames::CommonNameInA(const Module& module) const {
  const CommonModule common = BeforeAlignment(module);
  return {common.root, alignment_.PlaceInB(common.root, common.path)};
}

CommonModule ModuleNames::BeforeAlignment(const Module& module) const {
  std::string root = RootOf(of_a_, module.root);
  if (const auto found = renamed_.find(root); found != renamed_.end()) root = found->second;
  return {root, renames_.RenamePath(PathWithoutWrappers(module.path))};
}

CommonModule ModuleNames::CommonNameInB(const Module& module) const {
  return {RootOf(of_b_, module.root), PathWithoutWrappers(module.path)};
}

}  // namespace memoir
