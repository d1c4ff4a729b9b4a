#include "tools/cli/export/export_snapshot.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/segments/allocator_trace.h"
#include "tools/cli/export/capture_start.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/model/import_source.h"
#include "tools/view/segments/torch_snapshot_writer.h"

namespace memoir {

absl::StatusOr<ReplayReport> ExportSnapshot(const Capture& capture, const Selection& selection,
                                            const std::function<void(std::string_view)>& write) {
  if (!HasSegments(capture)) {
    return absl::FailedPreconditionError(capture.path() + ": " + DescribeImport(ImportSourceOf(capture)) +
                                         " has no segments, which a memory snapshot is made of");
  }
  JointReplays replays(capture, selection);
  SharedCategories shared(replays);
  const absl::StatusOr<KnownCategories>& found = replays.Finish(shared.Find());
  if (!found.ok()) return found.status();
  const KnownCategories& categories = *found;
  TorchSnapshotWriter writer(*categories, StartOf(capture) / 1000, write);
  absl::StatusOr<AllocatorTraceResult> result = StreamAllocatorTrace(capture, selection, writer);
  if (!result.ok()) return result.status();
  writer.Finish();
  if (!categories->missing.empty()) PrintMessage(categories->missing);
  if (result->other_processes > 0)
    PrintMessage(
        absl::StrCat("of the first of ", result->other_processes + 1, " processes with a GPU; --rank takes another"));
  return std::move(result->report);
}

}  // namespace memoir
