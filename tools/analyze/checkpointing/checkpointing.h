// What activation checkpointing (torch.utils.checkpoint, use_reentrant=False) of modules would do to the peak of a
// device: the recording is replayed as if their activations were freed after each call and recomputed when backward
// first needs one of them.
//
// An estimate in that the program was not run so; each group of modules by itself, all calls of it. What stays: what
// operators outside of a call saved of it, and what a call is given.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTING_H_
#define TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTING_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// Modules of one class whose paths differ in numbers alone.
struct CheckpointRow {
  std::string name;  // "layers.*.mlp", or the root where there is no path
  std::string root, path, class_name;
  std::uint64_t modules = 0;
  std::uint64_t calls = 0;        // in forward, in the window; inside a call of the same they are a part of it
  std::uint64_t already = 0;      // in backward, which checkpointing has made already
  std::uint64_t peak_bytes = 0;   // as it would be
  std::int64_t freed_bytes = 0;   // the peak as it is, less that
  std::uint64_t kept_bytes = 0;   // activations of them at the peak as it is that would be given back
  std::uint64_t again_bytes = 0;  // most that one call would have to make again
  bool cut_off = false;           // the peak is of a forward that ran out of memory: it would be at least peak_bytes
};

struct CheckpointDevice {
  std::string name;  // "cuda:0"
  ProcessId process;
  std::optional<std::uint32_t> rank;  // empty: of no rank
  bool caching = false;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::vector<CheckpointRow> rows;  // what frees most first
  // What frees most, where it is worth its time: at least a twentieth of the peak. Not one module alone that backward
  // never came to, as after an error in forward: what making it again would take is not known.
  const CheckpointRow* best() const {
    const auto known = [](const CheckpointRow& row) { return row.modules > 1 || row.again_bytes > 0; };
    const auto row = std::ranges::find_if(rows, known);
    const bool worth = row != rows.end() && row->freed_bytes > 0 &&
                       static_cast<std::uint64_t>(row->freed_bytes) >= (peak_bytes + 19) / 20;
    return worth ? &*row : nullptr;
  }
};

struct Checkpointing {
  std::vector<CheckpointDevice> devices;  // that had something live
  std::string missing;                    // what the capture lacks, in one line; mostly empty
  ReplayReport report;
};

// NotFound as AnalyzeSummary.
absl::StatusOr<Checkpointing> AnalyzeCheckpointing(const Capture& capture, const Selection& selection);
// `categories`: of the same capture and rank.
absl::StatusOr<Checkpointing> AnalyzeCheckpointing(const Capture& capture, const Selection& selection,
                                                   const BlockCategories& categories);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_CHECKPOINTING_H_
