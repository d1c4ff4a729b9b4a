// The kinds of events in summarized_events.def, and a check by the compiler that the file lists every kind of event
// that depends on the selection.
#ifndef TOOLS_ANALYZE_SUMMARY_SUMMARIZED_EVENT_H_
#define TOOLS_ANALYZE_SUMMARY_SUMMARIZED_EVENT_H_

#include <cstdint>
#include <iterator>

namespace memoir {

// The events that have a row in summarized_events.def. Two rows for one event do not compile.
enum class SummarizedEvent : std::uint8_t {
#define MEMOIR_COUNTED(Name, EventType, recorded) k##Name,
#define MEMOIR_HANDLED(Name, EventType, recorded, handler, Function) k##Name,
#define MEMOIR_IGNORED(Name, EventType) k##Name,
#include "tools/analyze/summary/summarized_events.def"
};

namespace summarized_event_internal {

// An event of visited.def without a row does not compile: "kName is not a member of SummarizedEvent".
inline constexpr SummarizedEvent kVisitedEvents[] = {
#define MEMOIR_LISTED_Process(Name)
#define MEMOIR_LISTED_Whole(Name)
#define MEMOIR_LISTED_Windowed(Name) SummarizedEvent::k##Name,
#define MEMOIR_VISITED(Name, EventType, recipient, how) MEMOIR_LISTED_##recipient(Name)
#include "tools/model/event/visited.def"
#undef MEMOIR_LISTED_Process
#undef MEMOIR_LISTED_Whole
#undef MEMOIR_LISTED_Windowed
};
inline constexpr SummarizedEvent kSummarizedEvents[] = {
#define MEMOIR_COUNTED(Name, EventType, recorded) SummarizedEvent::k##Name,
#define MEMOIR_HANDLED(Name, EventType, recorded, handler, Function) SummarizedEvent::k##Name,
#define MEMOIR_IGNORED(Name, EventType) SummarizedEvent::k##Name,
#include "tools/analyze/summary/summarized_events.def"
};
static_assert(std::size(kVisitedEvents) == std::size(kSummarizedEvents),
              "summarized_events.def has an event that does not depend on the selection");

}  // namespace summarized_event_internal

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_SUMMARIZED_EVENT_H_
