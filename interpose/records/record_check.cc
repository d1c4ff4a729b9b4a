#include "interpose/records/record_check.h"

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

// Returns the bytes of the argument kinds and list lengths that follow the struct of a record, with their padding.
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

std::uint64_t NeededStack(const std::uint8_t* at, std::size_t bytes) {
  StackRecord record;
  if (!Load(at, bytes, &record)) return UINT64_MAX;
  return sizeof record + std::uint64_t{record.header.count} * sizeof(StackFrame);
}

// Returns how many bytes a record must have, by its kind and the lengths that it contains. The sum has 64 bits and
// cannot overflow: each length has at most 32 bits or is checked first. UINT64_MAX for an unknown kind, which is damage
// and not a newer format, because the ring's version was checked earlier.
std::uint64_t Needed(RecordKind kind, const std::uint8_t* at, std::size_t bytes) {
#define MEMOIR_LENGTH_Fixed(Name, Struct) sizeof(Struct)
#define MEMOIR_LENGTH_Varies(Name, Struct) Needed##Name(at, bytes)
  switch (kind) {
#define MEMOIR_RECORD(Name, number, Struct, length) \
  case RecordKind::k##Name:                         \
    return MEMOIR_LENGTH_##length(Name, Struct);
#include "proto/memoir/events.def"
    case RecordKind::kNone:
      break;
  }
#undef MEMOIR_LENGTH_Fixed
#undef MEMOIR_LENGTH_Varies
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
