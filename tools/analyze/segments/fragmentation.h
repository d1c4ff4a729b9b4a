// Memory that a CUDA caching allocator has reserved and that other requests cannot use: its size over time, its pools
// and streams, and the live blocks that cause it.
//
// Unusable memory consists of the free memory in private pools, and of holes in pages that cannot be freed because a
// live block touches them (segment_map.h). A hole serves only requests of the same pool and stream that fit into it.
#ifndef TOOLS_ANALYZE_SEGMENTS_FRAGMENTATION_H_
#define TOOLS_ANALYZE_SEGMENTS_FRAGMENTATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/analyze/segments/segment_map.h"
#include "tools/analyze/segments/unusable_curve.h"
#include "tools/model/capture.h"

namespace memoir {

// Blocks of the same operator and module in one segment (SegmentRow), or in all segments with unusable bytes
// (DeviceSegments). The blocks pin the pages that they touch: these pages cannot be freed.
struct Pin {
  std::string name;  // "aten::zeros in layers.3.attn"
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;   // number of segments with unusable bytes that contain the blocks
  std::uint64_t unusable = 0;   // unusable bytes in these segments; a segment with several pins counts for each pin
  std::uint64_t oldest_ns = 0;  // age of the oldest block whose allocation was recorded; 0: no such block
  bool from_before = false;     // true: some blocks are older than the recording
};

struct PoolRow {
  PoolId pool;
  std::uint64_t stream = 0;
  std::uint64_t segments = 0;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;  // bytes in blocks, including blocks that wait for their free to complete
  std::uint64_t unusable = 0;
  std::uint64_t largest_hole = 0;
};

// The operator, the module and the allocation time of a block in a segment.
struct SegmentBlockFacts {
  std::string operator_name;  // or a label: "(no operator)", "(from before)"; empty for a block that waits
  std::string module;         // or the label "(no module)"
  std::uint64_t since_ns = 0;
};

struct SegmentRow {
  MappedSegment segment;
  std::vector<SegmentBlockFacts> facts;  // in the order of segment.blocks
  std::vector<Pin> pins;                 // blocks of the segment by operator and module, most bytes first
};

// The reserved memory of a device at one instant.
struct DeviceSegments {
  std::uint64_t ns = 0, until_ns = 0;  // the instant, and the device's next change; until_ns is 0 if unknown
  std::uint64_t reserved = 0, used = 0, unusable = 0, largest_hole = 0;
  std::optional<std::uint64_t> step;  // number of the last memoir.step()
  std::vector<PoolRow> places;        // by pool and stream; most unusable bytes first
  std::vector<SegmentRow> segments;   // ordered by address
  std::vector<Pin> pins;              // blocks in segments with unusable bytes; most unusable bytes first
};

struct FragmentedDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  DeviceSegments peak;                   // when the most bytes were unusable
  DeviceSegments end;                    // at the end of the selection
  std::vector<UnusablePoint> over_time;  // at most kMostCurvePoints
};

struct Fragmentation {
  std::vector<FragmentedDevice> devices;  // devices with a caching allocator
  ReplayReport report;
};

// Returns true if at least 64 MiB, and at least a tenth of the reserved bytes, are unusable.
bool IsFragmented(const DeviceSegments& instant);

Task<absl::StatusOr<Fragmentation>> AnalyzeFragmentation(JointReplays& replays, Selection selection);
absl::StatusOr<Fragmentation> AnalyzeFragmentation(const Capture& capture, const Selection& selection);

struct MappedDevice {
  std::string name;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  DeviceSegments at;
};

struct SegmentMaps {
  std::vector<MappedDevice> devices;  // devices with a caching allocator
  ReplayReport report;
};

// Returns the segments of each device at an instant.
absl::StatusOr<SegmentMaps> MapSegments(const Capture& capture, const Selection& selection, const InstantChoice& at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_FRAGMENTATION_H_
