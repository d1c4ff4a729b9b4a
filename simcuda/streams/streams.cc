#include "simcuda/streams/streams.h"

#include <array>
#include <ctime>
#include <mutex>
#include <unordered_set>

#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"
#include "simcuda/streams/graph_capture.h"

namespace memoir::simcuda {
namespace {

struct Handles {
  Mutex mutex;
  std::unordered_set<Stream*> streams;
  std::unordered_set<Event*> events;
  std::array<Stream, kMostDevices> defaults{};
  std::uint64_t next_id = 1;
};

constinit LazyObject<Handles> handles;

Handles& All() { return handles.Get(); }

std::uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Stream* NewStream(unsigned flags, int priority) {
  auto* const stream = new Stream{.device = CurrentDevice(), .priority = priority, .flags = flags};
  const std::lock_guard lock(All().mutex);
  stream->id = All().next_id++;
  All().streams.insert(stream);
  return stream;
}

bool DestroyStream(Stream* stream) {
  {
    const std::lock_guard lock(All().mutex);
    if (All().streams.erase(stream) == 0) return false;
  }
  LeaveCapture(*stream);
  delete stream;
  return true;
}

Stream* FindStream(void* handle) {
  constexpr std::uintptr_t kPerThread = 2;
  const std::lock_guard lock(All().mutex);
  if (reinterpret_cast<std::uintptr_t>(handle) <= kPerThread) {
    Stream& stream = All().defaults[static_cast<std::size_t>(CurrentDevice())];
    stream.device = CurrentDevice();
    return &stream;
  }
  auto* const stream = static_cast<Stream*>(handle);
  return All().streams.contains(stream) ? stream : nullptr;
}

Event* NewEvent(unsigned flags) {
  auto* const event = new Event{.flags = flags, .device = CurrentDevice()};
  const std::lock_guard lock(All().mutex);
  All().events.insert(event);
  return event;
}

bool DestroyEvent(Event* event) {
  {
    const std::lock_guard lock(All().mutex);
    if (All().events.erase(event) == 0) return false;
  }
  delete event;
  return true;
}

bool IsEvent(const Event* event) {
  const std::lock_guard lock(All().mutex);
  return All().events.contains(const_cast<Event*>(event));
}

void RecordEvent(Event& event, const Stream& stream) {
  event.recorded = true;
  event.nanoseconds = Now();
  event.mark = TheMachine().progress().Record(stream.number());
  event.capture_id = CaptureId(stream);
}

}  // namespace memoir::simcuda
