// The part of the replayer that shows what was read of the host's memory.
#include <array>
#include <cstdint>
#include <optional>

#include "tools/model/replayer.h"

namespace memoir {
namespace {

// As a capture has it: plus 1; 0 is not known.
std::optional<std::uint64_t> Known(std::uint64_t plus_one) {
  return plus_one == 0 ? std::nullopt : std::optional(plus_one - 1);
}

// All numbers, in the order of a HostReading. `next`: called once for each.
template <class Next>
HostNumbers NumbersOf(Next next) {
  HostNumbers numbers;
  for (auto* number :
       {&numbers.anonymous_bytes, &numbers.shared_bytes, &numbers.file_bytes, &numbers.swap_bytes,
        &numbers.proportional_bytes, &numbers.malloc_used_bytes, &numbers.malloc_free_bytes, &numbers.children,
        &numbers.children_bytes, &numbers.group_id, &numbers.group_used_bytes, &numbers.group_limit_bytes,
        &numbers.group_reclaimable_bytes, &numbers.group_shared_bytes, &numbers.group_kills, &numbers.machine_bytes,
        &numbers.machine_available_bytes, &numbers.machine_kills})
    *number = Known(next());
  return numbers;
}

v1::ReadingCause CauseOf(std::uint32_t number) {
  return v1::ReadingCause_IsValid(static_cast<int>(number)) ? static_cast<v1::ReadingCause>(number)
                                                            : v1::READING_CAUSE_UNKNOWN;
}

}  // namespace

void Replayer::ShowHostReading(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = MakeEvent<HostReadingEvent>(process_, thread.id(), cursor.tick);
  event.cause = CauseOf(cursor.run.reading_cause.Next32());
  event.numbers = NumbersOf([&] { return cursor.run.host_reading.Next(); });
  visitor_.OnHostReading(event);
}

// Those of parts that are gone; a replay that goes on after a loss has shown its own.
void Replayer::ShowHostReadings(const v1::Keyframe& keyframe) {
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
    auto event = MakeEvent<HostReadingEvent>(process_, ThreadId(), reading.tick());
    event.before = true;
    event.cause = reading.cause();
    event.numbers = NumbersOf([&, next = numbers.begin()]() mutable { return *next++; });
    visitor_.OnHostReading(event);
  }
}

}  // namespace memoir
