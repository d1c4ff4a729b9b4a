#include "tools/analyze/lives/leak.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace memoir {
namespace {

// Returns the holder of a block that is live long after its step. An autograd graph releases a tensor when backward has
// used it. So if the rule names the graph as holder, and backward has used the block, a reference in the program holds
// the block. Backward has not used the blocks of the rule awaits_backward.
HolderKind LastHolderOf(const Rule& rule) {
  return rule.holder == HolderKind::kGraph && rule.name != "awaits_backward" ? HolderKind::kProgram : rule.holder;
}

}  // namespace

std::string_view ToString(Leak::Kind kind) {
  switch (kind) {
    case Leak::Kind::kKept:
      return "kept";
    case Leak::Kind::kReplaced:
      return "replaced";
    case Leak::Kind::kFragmentation:
      return "fragmentation";
  }
  return "";
}

// An autograd graph holds the saved tensors of its nodes, whatever their category, for example inputs and casts of
// parameters. So if a graph holds a large share of the leak's bytes, the graph counts as the holder of the whole leak.
HolderKind HolderOf(const Leak& leak) {
  constexpr std::uint64_t kSmallestPart = 4;
  if (leak.categories.empty()) return HolderKind::kNotKnown;
  for (const Leak::Share& share : leak.categories) {
    const HolderKind holder = LastHolderOf(Rules()[share.rule]);
    const bool graph =
        holder == HolderKind::kGraph || holder == HolderKind::kUnusedGraph || holder == HolderKind::kRetainedGraph;
    if (graph && share.bytes >= leak.bytes / kSmallestPart) return holder;
  }
  return LastHolderOf(Rules()[leak.categories.front().rule]);
}

void DescribeLeak(const LeakParts& parts, const Dictionary& dictionary, Leak& leak) {
  struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t parts = 0;
    const std::pair<const LeakPart, std::uint64_t>* largest = nullptr;
  };
  std::map<CategoryNumber, Sum> sums;
  for (const auto& part : parts) {
    Sum& sum = sums[CategoryOf(std::get<RuleNumber>(part.first))];
    sum.bytes += part.second;
    ++sum.parts;
    if (sum.largest == nullptr || part.second > sum.largest->second) sum.largest = &part;
  }
  const Sum* first = nullptr;
  for (const auto& [category, sum] : sums) {
    leak.categories.push_back({std::get<RuleNumber>(sum.largest->first), sum.bytes});
    if (first == nullptr || sum.bytes > first->bytes) first = &sum;
  }
  if (first == nullptr) return;
  std::ranges::stable_sort(leak.categories, std::greater(), &Leak::Share::bytes);
  const auto& [operator_name, module, rule] = first->largest->first;
  leak.is_mixed = first->parts > 1;
  if (operator_name.valid()) leak.operator_name = dictionary.text(operator_name);
  if (module.valid()) leak.module = dictionary.module(module).display_path();
}

}  // namespace memoir
