#include "tools/analyze/summary/module_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace memoir {
namespace {

// Only a damaged capture has paths with more components. The bound is needed because trees are walked by recursion.
constexpr std::uint32_t kMostDepth = 200;

class Builder {
 public:
  Builder() : nodes_(1) {}

  void Add(const SummaryRow& row, std::size_t index) {
    std::size_t node = Child(0, row.kind == SummaryRow::Kind::kNamed ? row.module.root : row.name, row.kind);
    if (row.kind == SummaryRow::Kind::kNamed) {
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
    // The index of a child is larger than the index of its parent. So the loop visits a child first.
    for (std::size_t i = nodes_.size(); i-- > 1;) {
      nodes_[i].subtree += nodes_[i].own;
      nodes_[nodes_[i].parent].subtree += nodes_[i].subtree;
      nodes_[nodes_[i].parent].modules += nodes_[i].modules;
    }
    for (ModuleNode& node : nodes_) Sort(node.children);
    return std::move(nodes_);
  }

 private:
  // Returns the index of the child with this name, and adds the child if it is missing.
  std::size_t Child(std::size_t parent, const std::string& name, SummaryRow::Kind kind) {
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

  // Modules of several classes can have the same path, one after another. Each further class has its own node with this
  // path.
  void Fill(std::size_t node, const SummaryRow& row, std::size_t index) {
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
    nodes_[node].calls = row.count;
    nodes_[node].modules = row.kind == SummaryRow::Kind::kNamed ? 1 : 0;
  }

  void Sort(std::vector<std::size_t>& children) const {
    std::ranges::sort(children, [this](std::size_t left, std::size_t right) {
      const ModuleNode& a = nodes_[left];
      const ModuleNode& b = nodes_[right];
      // If bytes are equal, shorter names come first, so that 9 comes before 10.
      return std::tuple(b.subtree.bytes_at_peak, b.subtree.allocated_bytes, a.name.size(), a.name, left) <
             std::tuple(a.subtree.bytes_at_peak, a.subtree.allocated_bytes, b.name.size(), b.name, right);
    });
  }

  std::vector<ModuleNode> nodes_;
  absl::flat_hash_map<std::tuple<std::size_t, int, std::string>, std::size_t> known_;
};

bool IsNumber(const std::string& name) {
  return !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
}

// Returns "0-3, 5" for sorted numbers.
std::string Spans(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0, last; first < numbers.size(); first = last + 1) {
    last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

class AlikeFolder {
 public:
  explicit AlikeFolder(const std::vector<ModuleNode>& nodes) : nodes_(nodes) {}

  std::vector<ModuleNode> Fold() {
    Add({0}, 0);
    return std::move(folded_);
  }

 private:
  using Members = std::vector<std::size_t>;  // indices of alike nodes in nodes_

  static bool SameNumbers(const SummaryColumns& a, const SummaryColumns& b) {
    return a.bytes_at_peak == b.bytes_at_peak && a.allocated_bytes == b.allocated_bytes && a.net_bytes == b.net_bytes &&
           a.allocations == b.allocations;
  }

  bool AreAlike(const ModuleNode& a, const ModuleNode& b) const {
    if (a.class_name != b.class_name || a.calls != b.calls || a.row.has_value() != b.row.has_value()) return false;
    if (!SameNumbers(a.own, b.own) || !SameNumbers(a.subtree, b.subtree)) return false;
    if (a.children.size() != b.children.size()) return false;
    for (std::size_t i = 0; i < a.children.size(); ++i) {
      const ModuleNode &left = nodes_[a.children[i]], &right = nodes_[b.children[i]];
      if (left.name != right.name || !AreAlike(left, right)) return false;
    }
    return true;
  }

  // Divides `children` into groups that become one node each. A group contains indices in `children`. Groups are
  // ordered by their first child.
  std::vector<std::vector<std::size_t>> Groups(const std::vector<std::size_t>& children) const {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const ModuleNode& node = nodes_[children[i]];
      const auto fits = [&](const std::vector<std::size_t>& group) {
        const ModuleNode& first = nodes_[children[group.front()]];
        return IsNumber(first.name) && IsNumber(node.name) && AreAlike(first, node);
      };
      const auto found = node.root.empty() ? groups.end() : std::ranges::find_if(groups, fits);
      found == groups.end() ? groups.push_back({i}) : found->push_back(i);
    }
    return groups;
  }

  std::string NameOf(const Members& siblings) const {
    if (siblings.size() == 1) return nodes_[siblings.front()].name;
    std::vector<std::uint64_t> numbers;
    for (const std::size_t member : siblings) numbers.push_back(std::stoull(nodes_[member].name));
    std::ranges::sort(numbers);
    return Spans(numbers);
  }

  // Adds one node for `members`, and returns the node's index. The node's name lists `siblings`, the members that have
  // the same parent as the first member.
  std::size_t Add(const Members& members, std::size_t parent, const Members& siblings = {0}) {
    const std::size_t at = folded_.size();
    ModuleNode node = nodes_[members.front()];
    node.name = NameOf(siblings);
    node.parent = parent;
    node.alike = siblings.size();
    node.children.clear();
    for (std::size_t i = 1; i < members.size(); ++i) {
      const ModuleNode& other = nodes_[members[i]];
      node.own += other.own;
      node.subtree += other.subtree;
      node.modules += other.modules;
      node.calls += other.calls;
    }
    folded_.push_back(std::move(node));
    for (const std::vector<std::size_t>& group : Groups(nodes_[members.front()].children)) {
      Members children, alike;
      for (const std::size_t position : group) {
        alike.push_back(nodes_[members.front()].children[position]);
        for (const std::size_t member : members) children.push_back(nodes_[member].children[position]);
      }
      const std::size_t child = Add(children, at, alike);
      folded_[at].children.push_back(child);
    }
    std::ranges::stable_sort(folded_[at].children, [this](std::size_t left, std::size_t right) {
      const SummaryColumns &a = folded_[left].subtree, &b = folded_[right].subtree;
      return std::tuple(b.bytes_at_peak, b.allocated_bytes) < std::tuple(a.bytes_at_peak, a.allocated_bytes);
    });
    return at;
  }

  const std::vector<ModuleNode>& nodes_;
  std::vector<ModuleNode> folded_;
};

}  // namespace

std::vector<ModuleNode> FoldAlike(const std::vector<ModuleNode>& nodes) { return AlikeFolder(nodes).Fold(); }

std::vector<ModuleNode> BuildModuleTree(const Summary& summary) {
  Builder builder;
  for (std::size_t i = 0; i < summary.rows.size(); ++i) builder.Add(summary.rows[i], i);
  return builder.Finish();
}

}  // namespace memoir
