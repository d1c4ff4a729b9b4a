// The rows of a summary by module as the tree that their paths make, with subtotals.
//
//     LanguageModel ──► blocks ──► 0 ──► attention ──► project_in
//
// Parts of a path that were never called (a ModuleList) are nodes without a row. "(no module)" and its like are nodes
// below the top, beside the roots. Every subtotal is the node's own columns and those of its children.
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
  std::string name;  // the last part of its path, or its root; of other rows their name
  std::string root;
  std::string path;
  std::string class_name;          // "" where it was never called
  std::optional<std::size_t> row;  // in Summary::rows
  std::uint32_t depth = 0;         // 0: the top
  std::size_t parent = 0;          // the top is its own
  Columns own;
  Columns subtree;                    // at or under it
  std::uint64_t modules = 0;          // rows of modules at or under it
  std::uint64_t calls = 0;            // its own
  std::uint64_t alike = 1;            // siblings that it stands for (FoldAlike)
  std::vector<std::size_t> children;  // most bytes at the peak first, then most allocated bytes
};

// [0] is the top: its subtree is all. `summary` is GroupBy::kModule.
std::vector<ModuleNode> BuildModuleTree(const Summary& summary);

// The same tree with siblings that have numbers for names and are alike, with all that stands below them, as one node:
// "0-3", whose columns are their sums. Alike: of one class, with the same calls, bytes and allocations throughout.
std::vector<ModuleNode> FoldAlike(const std::vector<ModuleNode>& nodes);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_MODULE_TREE_H_
