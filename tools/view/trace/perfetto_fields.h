// Field numbers of Perfetto's published protos that several files use: Trace, TracePacket.
#ifndef TOOLS_VIEW_TRACE_PERFETTO_FIELDS_H_
#define TOOLS_VIEW_TRACE_PERFETTO_FIELDS_H_

#include <cstdint>

namespace memoir::perfetto {

enum TraceField : std::uint32_t { kPacket = 1 };
enum PacketField : std::uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kProfilePacket = 37,
  kTrackDescriptor = 60,
};
enum SequenceFlags : std::uint32_t { kStateCleared = 1, kNeedsState = 2 };
enum TextField : std::uint32_t { kTextIid = 1, kText = 2 };  // fields of an interned text

// In Perfetto pid and tid are signed 32-bit numbers. The system's numbers fit.
constexpr std::int32_t SystemNumber(std::uint64_t id) { return static_cast<std::int32_t>(id & 0x7fffffff); }

}  // namespace memoir::perfetto

#endif  // TOOLS_VIEW_TRACE_PERFETTO_FIELDS_H_
