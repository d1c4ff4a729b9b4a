// Writes all blocks as one JSON document (docs/json.md): for each block its allocation, its free and its category.
// `write` receives the document in pieces.
#ifndef TOOLS_VIEW_CAPTURE_BLOCK_JSON_H_
#define TOOLS_VIEW_CAPTURE_BLOCK_JSON_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

absl::StatusOr<ReplayReport> WriteBlockCategories(const Capture& capture, const Selection& selection,
                                                  const std::function<void(std::string_view)>& write);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_BLOCK_JSON_H_
