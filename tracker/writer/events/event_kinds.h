// Maps a record of the ring to the kind of event in a capture. Any thread.
#ifndef TRACKER_WRITER_EVENTS_EVENT_KINDS_H_
#define TRACKER_WRITER_EVENTS_EVENT_KINDS_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// The values of EventKind in capture.proto.
enum class EventKind : std::uint8_t {
  kUnknown = 0,
#define MEMOIR_EVENT(Name, NAME, number, Record, variant, columns) k##Name = number,
#include "proto/memoir/events.def"
};

// Returns the kind of event. `flags`: the flags of the record's header.
EventKind EventKindOf(RecordKind kind, std::uint8_t flags);

}  // namespace memoir

#endif  // TRACKER_WRITER_EVENTS_EVENT_KINDS_H_
