#include "tools/analyze/lives/leak.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace memoir {
namespace {

// Who keeps what is still live long after its step. A graph lets go of what backward has come to: that is kept by who
// refers to it.
Keeper LastKeeperOf(const Rule& rule) {
  return rule.keeper == Keeper::kGraph && rule.name != "awaits_backward" ? Keeper::kProgram : rule.keeper;
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

// Autograd's graph keeps what its nodes saved, whatever that is beside: inputs, parameters' casts.
Keeper KeeperOf(const Leak& leak) {
  constexpr std::uint64_t kSmallestPart = 4;
  if (leak.categories.empty()) return Keeper::kNotKnown;
  for (const Leak::Share& share : leak.categories) {
    const Keeper keeper = LastKeeperOf(Rules()[share.rule]);
    const bool graph = keeper == Keeper::kGraph || keeper == Keeper::kUnusedGraph || keeper == Keeper::kRetainedGraph;
    if (graph && share.bytes >= leak.bytes / kSmallestPart) return keeper;
  }
  return LastKeeperOf(Rules()[leak.categories.front().rule]);
}

void Describe(const LeakParts& parts, const Dictionary& dictionary, Leak& leak) {
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
  if (module.valid()) leak.module = dictionary.module(module).place();
}

}  // namespace memoir
