// memoir export with the formats categories, data-flow and memory-timeline. The format categories uses the rules of
// Memoir or torch.profiler. The other two formats use the rules of torch.profiler.
#ifndef TOOLS_CLI_EXPORT_EXPORT_CATEGORIES_H_
#define TOOLS_CLI_EXPORT_EXPORT_CATEGORIES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct CategoryExport {
  std::string what;    // "categories", "data-flow", "memory-timeline"
  std::string rules;   // "torch", "memoir", or "": not given
  std::string output;  // file name, which determines the format
  bool forget_before = false;
};

bool IsCategoryExport(std::string_view what);
// Describes an invalid option; empty if all are valid.
std::string ComplaintAbout(const CategoryExport& asked);

// Writes the export. `write` receives the file's bytes in order.
absl::StatusOr<ReplayReport> ExportCategories(const Capture& capture, const CategoryExport& asked,
                                              const Selection& selection,
                                              const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_CLI_EXPORT_EXPORT_CATEGORIES_H_
