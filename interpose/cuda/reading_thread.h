// A thread that asks NVML, which may take milliseconds, or for ever where a card has fallen off the bus: neither the
// program nor the thread that empties the ring waits for it.
//
//   writer's look ─► AskForReadings ─► thread: ReadWanted ─► records
//
// libc only.
#ifndef INTERPOSE_CUDA_READING_THREAD_H_
#define INTERPOSE_CUDA_READING_THREAD_H_

#include <cstdint>

namespace memoir {

// A recording begins, perhaps in a forked child: no thread of an earlier one does anything more.
void ForgetReadingThread();

// Starts it where there is none yet, and wakes it. False where none can be had. By the writer's thread and by the one
// that ends the recording.
bool AskForReadings();
// Until what was asked for is done, at most so long.
void AwaitReadings(std::uint64_t max_ns);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_READING_THREAD_H_
