// The rows of a summary by module as a tree of module paths, with subtotals.
//
//     LanguageModel ──► blocks ──► 0 ──► attention ──► project_in
//
// Modules on a path that were never called (a ModuleList) are nodes without a row. "(no module)" and similar rows are
// nodes below the top, next to the root modules. A subtotal is the sum of a node's own columns and its children's
// subtotals.
#ifndef TOOLS_ANALYZE_SUMMARY_MODULE_TREE_H_
#define TOOLS_ANALYZE_SUMMARY_MODULE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/summary/summary.h"

namespace memoir {

struct ModuleNode {
  std::string name;  // last component of the path, or the root; for "(no module)" and similar rows, the row's name
  std::string root;
  std::string path;
  std::string class_name;          // empty: never called
  std::optional<std::size_t> row;  // index in Summary::rows
  std::uint32_t depth = 0;         // 0: the top
  std::size_t parent = 0;          // the top is its own parent
  SummaryColumns own;
  SummaryColumns subtree;             // own columns plus the columns of all nodes below
  std::uint64_t modules = 0;          // rows of modules in this subtree
  std::uint64_t calls = 0;            // calls of this module
  std::uint64_t alike = 1;            // number of siblings that the node stands for (FoldAlike)
  std::vector<std::size_t> children;  // most bytes at the peak first, then most allocated bytes
};

// Returns the tree of a summary by GroupBy::kModule. The first node is the top; its subtree contains all nodes.
std::vector<ModuleNode> BuildModuleTree(const Summary& summary);

// Returns the same tree, but with alike siblings merged into one node, "0-3", whose columns are the sums over these
// siblings. Siblings are alike if their names are numbers, and if the classes, calls, bytes and allocations in their
// whole subtrees are equal.
std::vector<ModuleNode> FoldAlike(const std::vector<ModuleNode>& nodes);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_MODULE_TREE_H_
