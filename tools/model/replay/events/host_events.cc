#include "tools/model/replay/events/host_events.h"

#include <array>

#include "tools/model/replay/events/recorded_numbers.h"

namespace memoir {
namespace {

// Returns all numbers of a HostReading. Calls `next` once for each, in order.
template <class Next>
HostNumbers NumbersOf(Next next) {
  HostNumbers numbers;
  for (auto* number :
       {&numbers.anonymous_bytes, &numbers.shared_bytes, &numbers.file_bytes, &numbers.swap_bytes,
        &numbers.proportional_bytes, &numbers.malloc_used_bytes, &numbers.malloc_free_bytes, &numbers.children,
        &numbers.children_bytes, &numbers.group_id, &numbers.group_used_bytes, &numbers.group_limit_bytes,
        &numbers.group_reclaimable_bytes, &numbers.group_shared_bytes, &numbers.group_kills, &numbers.machine_bytes,
        &numbers.machine_available_bytes, &numbers.machine_kills})
    *number = KnownNumber(next());
  return numbers;
}

}  // namespace

void HostEvents::ShowReading(ThreadReplay& thread, RunCursor& cursor) {
  auto event = context_.MakeEvent<HostReadingEvent>(thread.id(), cursor.tick);
  event.cause = ReadingCauseOf(cursor.run.reading_cause.Next32());
  event.numbers = NumbersOf([&] { return cursor.run.host_reading.Next(); });
  context_.visitor().OnHostReading(event);
}

void HostEvents::ShowReadingsOfKeyframe(const v1::Keyframe& keyframe) {
  for (const v1::HostReading& reading : keyframe.host()) {
    const std::array numbers{reading.anonymous_bytes(),
                             reading.shared_bytes(),
                             reading.file_bytes(),
                             reading.swap_bytes(),
                             reading.proportional_bytes(),
                             reading.malloc_used_bytes(),
                             reading.malloc_free_bytes(),
                             reading.children(),
                             reading.children_bytes(),
                             reading.group_id(),
                             reading.group_used_bytes(),
                             reading.group_limit_bytes(),
                             reading.group_reclaimable_bytes(),
                             reading.group_shared_bytes(),
                             reading.group_kills(),
                             reading.machine_bytes(),
                             reading.machine_available_bytes(),
                             reading.machine_kills()};
    auto event = context_.MakeEvent<HostReadingEvent>(ThreadId(), reading.tick());
    event.before = true;
    event.cause = reading.cause();
    event.numbers = NumbersOf([&, next = numbers.begin()]() mutable { return *next++; });
    context_.visitor().OnHostReading(event);
  }
}

}  // namespace memoir
