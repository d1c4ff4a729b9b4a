// Memory that a CUDA caching allocator has reserved and no request can use: how much over time, where, and which live
// blocks cause it.
//
// Unusable is a hole beside a live block, in a page that therefore cannot be given back to the device (segment_map.h),
// and what a private pool has free. It serves requests of its own pool and stream alone, that fit the hole.
#ifndef TOOLS_ANALYZE_SEGMENTS_FRAGMENTATION_H_
#define TOOLS_ANALYZE_SEGMENTS_FRAGMENTATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/at.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/segments/segment_map.h"
#include "tools/analyze/segments/unusable_curve.h"
#include "tools/model/capture.h"

namespace memoir {

// Blocks of one operator in one module that lie in segments with unusable bytes.
struct Pin {
  std::string name;  // "aten::zeros in layers.3.attn"
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;
  std::uint64_t unusable = 0;   // in these segments; one that several pin counts for each
  std::uint64_t oldest_ns = 0;  // how long the oldest has lived; of blocks from before the recording: not known, 0
  bool from_before = false;     // some are
};

struct PlaceRow {
  PoolId pool;
  std::uint64_t stream = 0;
  std::uint64_t segments = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;  // by blocks, those included that wait for their free
  std::uint64_t unusable = 0;
  std::uint64_t largest_hole = 0;
};

// Of a block in a segment, what its ids stand for.
struct BlockFacts {
  std::string operator_name;  // "(no operator)", "(from before)", "" of one that waits
  std::string module;         // "(no module)"
  std::uint64_t since_ns = 0;
};

struct SegmentRow {
  Segment segment;
  std::vector<BlockFacts> facts;  // as its blocks
  std::vector<Pin> pins;          // of its live blocks, most bytes first
};

// The reserved memory of a device at one moment.
struct SegmentsAt {
  std::uint64_t ns = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  std::uint64_t unusable = 0;
  std::uint64_t largest_hole = 0;
  std::optional<std::uint64_t> step;  // number of the last memoir.step()
  std::vector<PlaceRow> places;       // they sum to the above; most unusable bytes first
  std::vector<SegmentRow> segments;   // by address
  std::vector<Pin> pins;              // of segments with unusable bytes; most of these first
};

struct FragmentedDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  SegmentsAt peak;  // when most was unusable
  SegmentsAt end;
  std::vector<CurvePoint> over_time;  // at most kMostCurvePoints
};

struct Fragmentation {
  std::vector<FragmentedDevice> devices;  // with a caching allocator
  ReplayReport report;
};

// Whether it is worth a finding: a tenth of what is reserved, and 64 MiB.
bool IsFragmented(const SegmentsAt& moment);

absl::StatusOr<Fragmentation> AnalyzeFragmentation(const Capture& capture, const Selection& selection);

struct MappedDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  SegmentsAt at;
};

struct SegmentMaps {
  std::vector<MappedDevice> devices;  // with a caching allocator
  ReplayReport report;
};

// The segments at an instant.
absl::StatusOr<SegmentMaps> AnalyzeSegmentsAt(const Capture& capture, const Selection& selection, const At& at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_FRAGMENTATION_H_
