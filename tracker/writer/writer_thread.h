// The thread that the writer runs on, as one of the program's process: its start, and its first exception.
#ifndef TRACKER_WRITER_WRITER_THREAD_H_
#define TRACKER_WRITER_WRITER_THREAD_H_

#include <pthread.h>

#include <string>

namespace memoir {

// Runs `body` on a thread of its own, which is to be joined. 0, or the error.
int StartWriterThread(void* (*body)(void*), void* argument, pthread_t* thread);
// What that error is and what to do: a line.
std::string CannotStartThread(int failed);

// Call it on a thread before it may throw for the first time; false: it must not, for there is no memory. libstdc++
// keeps something for each thread that throws, and where there is no memory for that, the loader ends the program.
bool HasMemoryToThrow();

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_THREAD_H_
