// The kinds of records that the writer packs as events, and the check that every event of the schema has a packer.
#ifndef TRACKER_WRITER_PACK_PACKED_RECORD_H_
#define TRACKER_WRITER_PACK_PACKED_RECORD_H_

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "interpose/records/ring_record.h"

namespace memoir {

// The records that have a row in packers.def. Two rows for one record do not compile.
enum class PackedRecord : std::uint8_t {
#define MEMOIR_PACKER(Name, packer, Function, InRow) k##Name = static_cast<std::uint8_t>(RecordKind::k##Name),
#include "tracker/writer/pack/packers.def"
};

namespace packed_record_internal {

// An event of the schema whose record has no row does not compile: "kName is not a member of PackedRecord".
inline constexpr PackedRecord kRecordsOfEvents[] = {
#define MEMOIR_EVENT(Name, NAME, number, Record, variant, columns) PackedRecord::k##Record,
#include "proto/memoir/events.def"
};
inline constexpr PackedRecord kPackedRecords[] = {
#define MEMOIR_PACKER(Name, packer, Function, InRow) PackedRecord::k##Name,
#include "tracker/writer/pack/packers.def"
};
static_assert(std::ranges::all_of(kPackedRecords,
                                  [](PackedRecord packed) {
                                    return std::ranges::find(kRecordsOfEvents, packed) != std::end(kRecordsOfEvents);
                                  }),
              "a packer takes a record that is of no event of the schema");

}  // namespace packed_record_internal

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_PACKED_RECORD_H_
