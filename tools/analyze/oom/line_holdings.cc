#include "tools/analyze/oom/line_holdings.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "tools/analyze/grouping/holdings.h"

namespace memoir {

std::vector<LineHolding> HoldingsByLine(const ReplayState& state, DeviceId device, const BlockCategories& categories,
                                        SourceLines& lines) {
  std::map<std::tuple<std::uint32_t, std::string, CategoryNumber>, LineHolding> holders;
  const Dictionary& dictionary = state.dictionary();
  state.ForEachLiveBlock([&](const Block& block) {
    if (block.device != device) return;
    constexpr std::uint32_t kNoLine = 0xffffffffu;
    const StackId stack = block.line_callstack();
    const std::uint32_t line = stack.valid() ? lines.NumberOf(stack, dictionary) : kNoLine;
    const std::string operator_name = stack.valid() ? "" : OperatorHolding(block, dictionary);
    const CategoryNumber category = categories.CategoryOf(block);
    LineHolding& holder = holders[{line, operator_name, category}];
    if (holder.blocks == 0) {
      if (stack.valid()) holder.line = SourceLineOf(lines.FrameOf(line), dictionary);
      holder.operator_name = operator_name;
      holder.category = category;
    }
    holder.bytes += block.bytes;
    ++holder.blocks;
  });
  std::vector<LineHolding> sorted;
  for (auto& [key, holder] : holders) sorted.push_back(std::move(holder));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &LineHolding::bytes);
  return sorted;
}

}  // namespace memoir
