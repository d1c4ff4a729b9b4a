// The allocated memory of a device at one moment of a replay: by operator, by module and by category.
#ifndef TOOLS_ANALYZE_GROUPING_HOLDINGS_H_
#define TOOLS_ANALYZE_GROUPING_HOLDINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/model/capture.h"

namespace memoir {

struct Holder {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct Holdings {
  using ByName = std::map<std::string, Holder>;
  ByName by_operator;  // "(no operator)", "(from before)": found where recording began, "(library workspace)"
  ByName by_module;    // by path, or the root where that is empty; "(no module)", and the same
  std::uint64_t bytes = 0;
  void Add(const Block& block, const Dictionary& dictionary);
  void AddWorkspace(const Block& block);
};

// Without the blocks of one operator call (OpenRange::call); 0: all. Modules are known of replays that look for them.
// Libraries' workspaces are apart, as in Grouping.
Holdings HoldingsOf(const ReplayState& state, DeviceId device, const BlockCategories& categories,
                    std::uint64_t without_call = 0);

// By Memoir's rules, largest first.
std::vector<Holder> HoldingsByCategory(const ReplayState& state, DeviceId device, const BlockCategories& categories);

std::string OperatorHolding(const Block& block, const Dictionary& dictionary);
std::string ModuleHolding(const Block& block, const Dictionary& dictionary);

// Largest first.
std::vector<Holder> Sorted(const Holdings::ByName& holders);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_HOLDINGS_H_
