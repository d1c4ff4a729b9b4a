// The allocated memory of a device at one instant of a replay: by operator, by module and by category.
#ifndef TOOLS_ANALYZE_GROUPING_HOLDINGS_H_
#define TOOLS_ANALYZE_GROUPING_HOLDINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/model/capture.h"

namespace memoir {

struct HoldingRow {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct Holdings {
  using ByName = std::map<std::string, HoldingRow>;
  // By name of the operator. Other keys: "(no operator)", "(library workspace)", and "(from before)" for blocks that
  // were live before the recording.
  ByName by_operator;
  // By path of the module, or by root if the path is empty. Other keys: "(no module)", "(library workspace)" and "(from
  // before)".
  ByName by_module;
  std::uint64_t bytes = 0;
  void Add(const Block& block, const Dictionary& dictionary);
  // Adds a library's workspace.
  void AddWorkspace(const Block& block);
};

// Returns the allocated memory of `device`, without the blocks that the operator call `without_call` allocated
// (OpenRange::call; 0: leaves out no blocks). Modules are known only in a replay with ReplayOptions::modules. Library
// workspaces are separate, as in Grouping.
Holdings HoldingsOf(const ReplayState& state, DeviceId device, const BlockCategories& categories,
                    std::uint64_t without_call = 0);

// Returns a row for each category by Memoir's rules, largest first.
std::vector<HoldingRow> HoldingsByCategory(const ReplayState& state, DeviceId device,
                                           const BlockCategories& categories);

// Returns the key of `block` in Holdings::by_operator.
std::string OperatorHolding(const Block& block, const Dictionary& dictionary);
// Returns the key of `block` in Holdings::by_module.
std::string ModuleHolding(const Block& block, const Dictionary& dictionary);

// Returns the rows, largest first.
std::vector<HoldingRow> Sorted(const Holdings::ByName& holders);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_HOLDINGS_H_
