#include "tools/analyze/module_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace memoir {
namespace {

// A path of more parts is one of a damaged capture, and would be walked by recursion.
constexpr std::uint32_t kMostDepth = 200;

class Builder {
 public:
  Builder() : nodes_(1) {}

  void Add(const Row& row, std::size_t index) {
    std::size_t node = Child(0, row.kind == Row::Kind::kNamed ? row.module.root : row.name, row.kind);
    if (row.kind == Row::Kind::kNamed) {
      nodes_[node].root = row.module.root;
      for (std::size_t begin = 0; begin < row.module.path.size();) {
        const bool last = nodes_[node].depth >= kMostDepth;
        const std::size_t end = last ? row.module.path.size() : row.module.path.find('.', begin);
        node = Child(node, row.module.path.substr(begin, end - begin), row.kind);
        nodes_[node].root = row.module.root;
        nodes_[node].path = row.module.path.substr(0, end);
        if (end == std::string::npos) break;
        begin = end + 1;
      }
    }
    Fill(node, row, index);
  }

  std::vector<ModuleNode> Finish() {
    // Children stand behind their parents.
    for (std::size_t i = nodes_.size(); i-- > 1;) {
      nodes_[i].subtree += nodes_[i].own;
      nodes_[nodes_[i].parent].subtree += nodes_[i].subtree;
      nodes_[nodes_[i].parent].modules += nodes_[i].modules;
    }
    for (ModuleNode& node : nodes_) Sort(node.children);
    return std::move(nodes_);
  }

 private:
  std::size_t Child(std::size_t parent, const std::string& name, Row::Kind kind) {
    const auto [known, added] = known_.try_emplace({parent, static_cast<int>(kind), name}, nodes_.size());
    if (!added) return known->second;
    ModuleNode node;
    node.name = name;
    node.depth = nodes_[parent].depth + 1;
    node.parent = parent;
    nodes_[parent].children.push_back(nodes_.size());
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  // One path can have had modules of several classes, one after the other: a node for each further one, beside it.
  void Fill(std::size_t node, const Row& row, std::size_t index) {
    if (nodes_[node].row) {
      ModuleNode another = nodes_[node];
      another.children.clear();
      nodes_[another.parent].children.push_back(nodes_.size());
      node = nodes_.size();
      nodes_.push_back(std::move(another));
    }
    nodes_[node].row = index;
    nodes_[node].class_name = row.module.class_name;
    nodes_[node].own = row.total;
    nodes_[node].modules = row.kind == Row::Kind::kNamed ? 1 : 0;
  }

  void Sort(std::vector<std::size_t>& children) const {
    std::ranges::sort(children, [this](std::size_t left, std::size_t right) {
      const ModuleNode& a = nodes_[left];
      const ModuleNode& b = nodes_[right];
      // Of names alike in all that, 9 before 10.
      return std::tuple(b.subtree.bytes_at_peak, b.subtree.allocated_bytes, a.name.size(), a.name, left) <
             std::tuple(a.subtree.bytes_at_peak, a.subtree.allocated_bytes, b.name.size(), b.name, right);
    });
  }

  std::vector<ModuleNode> nodes_;
  absl::flat_hash_map<std::tuple<std::size_t, int, std::string>, std::size_t> known_;
};

}  // namespace

std::vector<ModuleNode> BuildModuleTree(const Summary& summary) {
  Builder builder;
  for (std::size_t i = 0; i < summary.rows.size(); ++i) builder.Add(summary.rows[i], i);
  return builder.Finish();
}

}  // namespace memoir
