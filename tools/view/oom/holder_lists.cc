#include "tools/view/oom/holder_lists.h"

#include <algorithm>
#include <cstdint>

#include "tools/analyze/pass/layer_pattern.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {

std::string QuotedHolder(std::string_view name) {
  constexpr std::size_t kNameInLine = 40;
  return Shortened(Escaped(name), kNameInLine);
}

std::string HolderList(const std::vector<HoldingRow>& holders, std::size_t top) {
  std::string text;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (top != 0 && i >= top) {
      rest += holders[i].bytes;
      continue;
    }
    text += (i == 0 ? "" : ", ") + QuotedHolder(holders[i].name) + " " + FormatBytes(holders[i].bytes);
  }
  if (rest > 0) text += ", others " + FormatBytes(rest);
  return holders.empty() ? "nobody" : text;
}

std::vector<HoldingRow> LayersMerged(const std::vector<HoldingRow>& modules) {
  std::vector<HoldingRow> merged;
  for (const HoldingRow& module : modules) {
    const std::string name = WithLayersMerged(module.name);
    const auto known = std::ranges::find(merged, name, &HoldingRow::name);
    if (known == merged.end()) {
      merged.push_back({name, module.bytes, module.blocks});
    } else {
      known->bytes += module.bytes;
      known->blocks += module.blocks;
    }
  }
  std::ranges::stable_sort(merged, [](const HoldingRow& a, const HoldingRow& b) { return a.bytes > b.bytes; });
  return merged;
}

}  // namespace memoir
