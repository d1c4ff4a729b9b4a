// Streams and events: their identities, flags, times, and positions in the queue (stream_progress.h).
//
// Handles are pointers to these structs, which exist until the program destroys them. Any thread; as CUDA requires, one
// thread at a time uses a stream or an event.
#ifndef SIMCUDA_STREAMS_STREAMS_H_
#define SIMCUDA_STREAMS_STREAMS_H_

#include <cstdint>

#include "simcuda/machine/stream_progress.h"

namespace memoir::simcuda {

struct Capture;

struct Stream {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
  Capture* capture = nullptr;  // the capture in progress; nullptr: none

  StreamNumber number() const { return NumberOf(device, id); }
};

struct Event {
  unsigned flags = 0;
  int device = 0;
  bool recorded = false;
  std::uint64_t nanoseconds = 0;  // time of the last cudaEventRecord
  StreamMark mark = {};           // position of the last cudaEventRecord
  std::uint64_t capture_id = 0;   // capture of the last cudaEventRecord; 0: none
};

// Creates a stream of the calling thread's device.
Stream* NewStream(unsigned flags, int priority);
// False for a handle that is not a simulated stream.
bool DestroyStream(Stream* stream);
// Resolves the handles 0, 1 and 2 (default, legacy, per thread) to the current device's own stream. nullptr for a
// handle that is not a simulated stream.
Stream* FindStream(void* handle);

Event* NewEvent(unsigned flags);
bool DestroyEvent(Event* event);
bool IsEvent(const Event* event);

void RecordEvent(Event& event, const Stream& stream);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_STREAMS_STREAMS_H_
