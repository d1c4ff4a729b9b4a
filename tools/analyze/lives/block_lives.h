// Every block of a selection with its whole life and its category, one after another as they end.
#ifndef TOOLS_ANALYZE_LIVES_BLOCK_LIVES_H_
#define TOOLS_ANALYZE_LIVES_BLOCK_LIVES_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct BlockLife {
  const Block* block = nullptr;
  ProcessId process;
  std::uint64_t allocated_ns = 0;
  std::optional<std::uint64_t> freed_ns;  // none: live at the end
  RuleNumber rule = 0;
  ParameterNumber parameter = kNoParameter;
};

// Shows what is valid during the call alone. Blocks that were live at some instant of the window.
using ShowLife = std::function<void(const BlockLife&, const ReplayState&)>;
absl::StatusOr<ReplayReport> ForEachBlockLife(const Capture& capture, const Selection& selection,
                                              const BlockCategories& categories, const ShowLife& show);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_BLOCK_LIVES_H_
