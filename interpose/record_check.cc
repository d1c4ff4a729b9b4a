#include "interpose/record_check.h"

#include <cstring>

namespace memoir {
namespace {

constexpr std::uint64_t RoundUp(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

template <typename Record>
bool Load(const std::uint8_t* at, std::size_t bytes, Record* record) {
  if (bytes < sizeof(Record)) return false;
  std::memcpy(record, at, sizeof(Record));
  return true;
}

// Kinds, padded, and list lengths behind a range record.
std::uint64_t ArgumentBytes(const RecordHeader& header, std::uint32_t list_count) {
  return RoundUp(RoundUp(header.count, 4) + std::uint64_t{list_count} * 4, 8);
}

std::uint64_t NeededRangeBegin(const std::uint8_t* at, std::size_t bytes) {
  RangeBeginRecord record;
  if (!Load(at, bytes, &record)) return UINT64_MAX;
  const std::uint64_t text = (record.header.flags & kInlineName) != 0 ? record.name : 0;
  return sizeof record + ArgumentBytes(record.header, record.list_count) + text;
}

std::uint64_t NeededRangeEnd(const std::uint8_t* at, std::size_t bytes) {
  RangeEndRecord record;
  if (!Load(at, bytes, &record)) return UINT64_MAX;
  return sizeof record + ArgumentBytes(record.header, record.list_count);
}

std::uint64_t NeededHolds(const std::uint8_t* at, std::size_t bytes) {
  HoldsRecord record;
  if (!Load(at, bytes, &record)) return UINT64_MAX;
  return sizeof record + ArgumentBytes(record.header, record.list_count) + record.name_bytes;
}

std::uint64_t NeededTensor(const std::uint8_t* at, std::size_t bytes) {
  TensorRecord record;
  if (!Load(at, bytes, &record) || record.ndim > kMaxDimensions) return UINT64_MAX;
  const std::uint64_t columns = (record.header.flags & kContiguous) != 0 ? 1 : 2;
  return sizeof record + columns * record.ndim * sizeof(std::int64_t);
}

std::uint64_t NeededMark(const std::uint8_t* at, std::size_t bytes) {
  MarkRecord record;
  if (!Load(at, bytes, &record) || record.length > kMaxRecordBytes) return UINT64_MAX;
  return sizeof record + record.length;
}

// 64-bit sums of 32-bit lengths cannot wrap, so the caller's one comparison settles all of them. A kind that this
// version does not know counts as damage: the ring's version is checked before its records.
std::uint64_t Needed(RecordKind kind, const std::uint8_t* at, std::size_t bytes) {
  switch (kind) {
    case RecordKind::kRangeBegin:
      return NeededRangeBegin(at, bytes);
    case RecordKind::kRangeEnd:
      return NeededRangeEnd(at, bytes);
    case RecordKind::kHolds:
      return NeededHolds(at, bytes);
    case RecordKind::kTensor:
      return NeededTensor(at, bytes);
    case RecordKind::kAllocate:
      return sizeof(AllocateRecord);
    case RecordKind::kDeallocate:
    case RecordKind::kBlockFreeCompleted:
    case RecordKind::kDriverFree:
      return sizeof(DeallocateRecord);
    case RecordKind::kBlockAllocate:
    case RecordKind::kBlockFound:
      return sizeof(BlockRecord);
    case RecordKind::kSegment:
      return sizeof(SegmentRecord);
    case RecordKind::kOutOfMemory:
      return sizeof(OutOfMemoryRecord);
    case RecordKind::kDeviceStatistics:
      return sizeof(DeviceStatisticsRecord);
    case RecordKind::kDriverAllocate:
      return sizeof(DriverBlockRecord);
    case RecordKind::kDriverRefused:
      return sizeof(DriverRefusedRecord);
    case RecordKind::kDeviceReading:
      return sizeof(DeviceReadingRecord);
    case RecordKind::kMark:
      return NeededMark(at, bytes);
    case RecordKind::kStep:
      return sizeof(StepRecord);
    case RecordKind::kModuleEnter:
    case RecordKind::kModuleExit:
      return sizeof(ModuleRecord);
    case RecordKind::kDropped:
      return sizeof(RecordHeader);
    case RecordKind::kPause:
    case RecordKind::kResume:
      return sizeof(SwitchRecord);
    case RecordKind::kNone:
      break;
  }
  return UINT64_MAX;
}

}  // namespace

std::size_t CheckedRecordBytes(const std::uint8_t* at, std::size_t available) {
  RecordHeader header;
  if (!Load(at, available, &header)) return 0;
  const std::size_t bytes = std::size_t{header.words} * 8;
  if (bytes < sizeof header || bytes > available || bytes > kMaxRecordBytes) return 0;
  return Needed(header.kind, at, bytes) <= bytes ? bytes : 0;
}

std::size_t CheckedRunBytes(const std::uint8_t* begin, std::size_t available) {
  std::size_t good = 0;
  for (;;) {
    const std::size_t bytes = CheckedRecordBytes(begin + good, available - good);
    if (bytes == 0) return good;
    good += bytes;
  }
}

}  // namespace memoir
