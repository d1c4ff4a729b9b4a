// The kinds of events that a replay handles, and the check that these are all kinds of the schema.
#ifndef TOOLS_MODEL_REPLAY_HANDLED_EVENT_H_
#define TOOLS_MODEL_REPLAY_HANDLED_EVENT_H_

#include <iterator>

#include "memoir/v1/capture.pb.h"

namespace memoir {

// The events that have a row in replay_handlers.def. Two rows for one event do not compile.
enum class HandledEvent : int {
#define MEMOIR_HANDLER(NAME, handler, Function, Skimmed, InPattern) NAME = v1::NAME,
#include "tools/model/replay/replay_handlers.def"
};

namespace handled_event_internal {

// An event of the schema without a row does not compile: "NAME is not a member of HandledEvent".
inline constexpr HandledEvent kSchemaEvents[] = {
#define MEMOIR_EVENT(Name, NAME, number, Record, variant, columns) HandledEvent::NAME,
#include "proto/memoir/events.def"
};
inline constexpr HandledEvent kHandledEvents[] = {
#define MEMOIR_HANDLER(NAME, handler, Function, Skimmed, InPattern) HandledEvent::NAME,
#include "tools/model/replay/replay_handlers.def"
};
static_assert(std::size(kSchemaEvents) == std::size(kHandledEvents), "a handler takes an event that the schema lacks");

}  // namespace handled_event_internal

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_HANDLED_EVENT_H_
