// Streams and events: identities, flags, times, and places in the queue (progress.h).
//
// Handles are pointers to these; a stream lives until it is destroyed, an event likewise. Any thread; a single stream
// or event is used by one thread at a time, as CUDA asks.
#ifndef INTERPOSE_SIMCUDA_STREAMS_H_
#define INTERPOSE_SIMCUDA_STREAMS_H_

#include <cstdint>

#include "interpose/simcuda/progress.h"

namespace memoir::simcuda {

struct Capture;

struct Stream {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
  Capture* capture = nullptr;  // the one in progress

  StreamNumber number() const { return NumberOf(device, id); }
};

struct Event {
  unsigned flags = 0;
  int device = 0;
  bool recorded = false;
  std::uint64_t nanoseconds = 0;  // when it was recorded last
  Mark mark = {};                 // where
  std::uint64_t capture_id = 0;   // the capture in which it was recorded last; 0: none
};

// A stream of the thread's device.
Stream* NewStream(unsigned flags, int priority);
// False for handles that are no stream.
bool DestroyStream(Stream* stream);
// Resolves the handles 0, 1 and 2 (default, legacy, per thread) to the current device's own stream. nullptr for what is
// no stream of ours.
Stream* FindStream(void* handle);

Event* NewEvent(unsigned flags);
bool DestroyEvent(Event* event);
bool IsEvent(const Event* event);

void RecordEvent(Event& event, const Stream& stream);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_STREAMS_H_
