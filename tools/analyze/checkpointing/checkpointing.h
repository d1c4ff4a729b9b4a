// Estimates how activation checkpointing (torch.utils.checkpoint, use_reentrant=False) would change the peak of a
// device. The replay runs as if a module's activations were freed after each call, and recomputed when backward first
// needs one of them.
//
// Each group of alike modules is estimated separately, with all of its calls. Two kinds of tensors stay live: tensors
// that operators outside of a call saved, and the inputs of a call.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTING_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTING_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// A group of modules of one class whose paths differ only in numbers.
struct CheckpointRow {
  std::string name;  // "layers.*.mlp"; the root if the path is empty
  std::string root, path, class_name;
  std::uint64_t modules = 0;
  std::uint64_t calls = 0;        // forward calls in the selection; not counting calls inside of a call of the group
  std::uint64_t already = 0;      // calls in backward: the program already checkpoints them
  std::uint64_t peak_bytes = 0;   // peak with checkpointing
  std::int64_t freed_bytes = 0;   // recorded peak minus peak_bytes
  std::uint64_t kept_bytes = 0;   // bytes live at the recorded peak, of blocks that checkpointing would free
  std::uint64_t again_bytes = 0;  // most bytes that one call would recompute
  bool cut_off = false;           // the peak is in a forward pass that ran out of memory; peak_bytes is a lower bound
};

struct CheckpointDevice {
  std::string name;  // "cuda:0"
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: the process has no rank
  bool caching = false;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::vector<CheckpointRow> rows;  // most freed bytes first
  // Returns the row with the most freed bytes. nullptr if these are less than a twentieth of the peak. Skips a row of a
  // single module that backward never reached, for example after an error in forward, because the recomputation of the
  // module cannot be estimated.
  const CheckpointRow* best() const {
    const auto known = [](const CheckpointRow& row) { return row.modules > 1 || row.again_bytes > 0; };
    const auto row = std::ranges::find_if(rows, known);
    const bool worth = row != rows.end() && row->freed_bytes > 0 &&
                       static_cast<std::uint64_t>(row->freed_bytes) >= (peak_bytes + 19) / 20;
    return worth ? &*row : nullptr;
  }
};

struct Checkpointing {
  std::vector<CheckpointDevice> devices;  // devices with live blocks
  std::string missing;                    // one line: the information that the capture lacks; usually empty
  ReplayReport report;
};

// Returns the same errors as AnalyzeSummary. Needs two replays.
Task<absl::StatusOr<Checkpointing>> AnalyzeCheckpointing(SharedCategories& shared, Selection selection);
absl::StatusOr<Checkpointing> AnalyzeCheckpointing(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTING_H_
