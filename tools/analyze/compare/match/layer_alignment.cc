#include "tools/analyze/compare/match/layer_alignment.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {
namespace {

bool IsNumber(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint64_t NumberOf(const std::string& name) {
  std::uint64_t number = UINT64_MAX;
  return absl::SimpleAtoi(name, &number) ? number : UINT64_MAX;
}

std::string ChildPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

}  // namespace

bool LayerCount::Has(const std::string& of_root, const std::string& path) const {
  if (of_root != root) return false;
  return std::ranges::any_of(left, [&](const std::string& layer) {
    return path.starts_with(layer) && (path.size() == layer.size() || path[layer.size()] == '.');
  });
}

std::string LayerAlignment::Node::ClassesText() const {
  std::string text = class_name;
  for (const auto& [name, child] : children) absl::StrAppend(&text, "(", name, " ", child.ClassesText(), ")");
  return text;
}

std::string LayerAlignment::Node::WholeText() const {
  std::string text = absl::StrCat(class_name, " ", shapes);
  for (const auto& [name, child] : children) absl::StrAppend(&text, "(", name, " ", child.WholeText(), ")");
  return text;
}

std::map<std::string, LayerAlignment::Node> LayerAlignment::TreesOf(const std::vector<AlignedModule>& modules) {
  std::map<std::string, Node> trees;
  for (const AlignedModule& module : modules) {
    Node* node = &trees[module.root];
    for (const auto name : absl::StrSplit(module.path, '.', absl::SkipEmpty()))
      node = &node->children[std::string(name)];
    if (!module.class_name.empty()) node->class_name = module.class_name;
    if (!module.shapes.empty()) node->shapes = module.shapes;
  }
  return trees;
}

LayerAlignment::NumberedNodes LayerAlignment::NumberedOf(const Node& node) {
  NumberedNodes numbered;
  for (const auto& [name, child] : node.children) {
    if (IsNumber(name)) numbered.emplace_back(name, &child);
  }
  std::ranges::stable_sort(numbered, {}, [](const auto& one) { return NumberOf(one.first); });
  return numbered;
}

// Returns the common subsequence of `a` and `b` with the largest sum of weights: a pair with equal classes weighs 2, a
// pair with equal classes and shapes weighs 3. If several subsequences have this sum, returns the one that pairs the
// earliest modules.
std::vector<std::pair<std::size_t, std::size_t>> LayerAlignment::Match(const NumberedNodes& a, const NumberedNodes& b) {
  constexpr std::size_t kMost = 1'000'000;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (a.size() * b.size() > kMost) return pairs;
  std::vector<std::string> classes_a, classes_b, whole_a, whole_b;
  for (const auto& [name, node] : a) classes_a.push_back(node->ClassesText()), whole_a.push_back(node->WholeText());
  for (const auto& [name, node] : b) classes_b.push_back(node->ClassesText()), whole_b.push_back(node->WholeText());
  const auto worth = [&](std::size_t i, std::size_t j) {
    return whole_a[i] == whole_b[j] ? 3u : classes_a[i] == classes_b[j] ? 2u : 0u;
  };
  // best[i][j]: the largest sum of weights of pairs among a[i], a[i + 1], ... and b[j], b[j + 1], ...
  std::vector<std::vector<std::uint32_t>> best(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      const std::uint32_t paired = worth(i, j) == 0 ? 0 : worth(i, j) + best[i + 1][j + 1];
      best[i][j] = std::max({paired, best[i + 1][j], best[i][j + 1]});
    }
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (worth(i, j) > 0 && best[i][j] == worth(i, j) + best[i + 1][j + 1]) {
      pairs.emplace_back(i++, j++);
    } else if (best[i][j] == best[i][j + 1]) {
      ++j;
    } else {
      ++i;
    }
  }
  return pairs;
}

bool LayerAlignment::IsOneOfAlike(const NumberedNodes& layers, std::size_t index) {
  const std::string whole = layers[index].second->WholeText();
  return (index > 0 && layers[index - 1].second->WholeText() == whole) ||
         (index + 1 < layers.size() && layers[index + 1].second->WholeText() == whole);
}

void LayerAlignment::AlignNumbered(const std::string& root, const Node& a, const Node& b, const std::string& path_a,
                                   const std::string& path_b) {
  const NumberedNodes layers_a = NumberedOf(a), layers_b = NumberedOf(b);
  if (layers_a.size() == layers_b.size() || layers_a.empty() || layers_b.empty()) {
    for (const auto& [name, node] : layers_a) {
      const auto same = b.children.find(name);
      if (same != b.children.end()) Align(root, *node, same->second, ChildPath(path_a, name), ChildPath(path_b, name));
    }
    return;
  }
  std::set<std::size_t> left_a, left_b;
  for (std::size_t i = 0; i < layers_a.size(); ++i) left_a.insert(i);
  for (std::size_t i = 0; i < layers_b.size(); ++i) left_b.insert(i);
  for (const auto& [i, j] : Match(layers_a, layers_b)) {
    left_a.erase(i);
    left_b.erase(j);
    const std::string in_a = ChildPath(path_a, layers_a[i].first), in_b = ChildPath(path_b, layers_b[j].first);
    if (in_a != in_b) in_b_[root][in_a] = in_b;
    Align(root, *layers_a[i].second, *layers_b[j].second, in_a, in_b);
  }
  std::vector<std::string> left;
  for (const std::size_t i : left_b) left.push_back(ChildPath(path_b, layers_b[i].first));
  for (const std::size_t i : left_a) {
    const std::string& name = layers_a[i].first;
    const std::string in_b = ChildPath(path_b, name) + (b.children.contains(name) ? "(A)" : "");
    left.push_back(in_b);
    if (in_b != ChildPath(path_a, name)) in_b_[root][ChildPath(path_a, name)] = in_b;
  }
  const bool is_unclear = std::ranges::any_of(left_a, [&](std::size_t i) { return IsOneOfAlike(layers_a, i); }) ||
                          std::ranges::any_of(left_b, [&](std::size_t i) { return IsOneOfAlike(layers_b, i); });
  if (is_unclear)
    counts_.push_back({path_b.empty() ? root : path_b, layers_a.size(), layers_b.size(), root, std::move(left)});
}

void LayerAlignment::Align(const std::string& root, const Node& a, const Node& b, const std::string& path_a,
                           const std::string& path_b) {
  for (const auto& [name, child] : a.children) {
    const auto same = b.children.find(name);
    if (IsNumber(name) || same == b.children.end()) continue;
    const std::string in_a = ChildPath(path_a, name), in_b = ChildPath(path_b, name);
    if (in_a != in_b) in_b_[root][in_a] = in_b;
    Align(root, child, same->second, in_a, in_b);
  }
  AlignNumbered(root, a, b, path_a, path_b);
}

LayerAlignment::LayerAlignment(const std::vector<AlignedModule>& a, const std::vector<AlignedModule>& b) {
  const std::map<std::string, Node> trees_a = TreesOf(a), trees_b = TreesOf(b);
  for (const auto& [root, tree] : trees_a) {
    const auto same = trees_b.find(root);
    if (same != trees_b.end()) Align(root, tree, same->second, "", "");
  }
}

std::vector<LayerCount> WithPlacesMerged(const std::vector<LayerCount>& counts) {
  std::vector<LayerCount> merged;
  for (const LayerCount& count : counts) {
    const std::string pattern = WithLayersMerged(count.place);
    const auto same = std::ranges::find_if(merged, [&](const LayerCount& other) {
      return other.root == count.root && other.a == count.a && other.b == count.b &&
             WithLayersMerged(other.place) == pattern;
    });
    if (same == merged.end()) {
      merged.push_back({count.place, count.a, count.b, count.root, {}});
    } else {
      same->place = pattern;
    }
  }
  return merged;
}

std::string LayerAlignment::PlaceInB(const std::string& root, const std::string& path) const {
  const auto renamed = in_b_.find(root);
  if (renamed == in_b_.end()) return path;
  for (std::size_t end = path.size(); end != std::string::npos && end > 0; end = path.rfind('.', end - 1)) {
    const auto found = renamed->second.find(path.substr(0, end));
    if (found != renamed->second.end()) return found->second + path.substr(end);
  }
  return path;
}

}  // namespace memoir
