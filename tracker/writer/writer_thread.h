// Starts the writer's thread, and prepares a thread for its first exception.
#ifndef TRACKER_WRITER_WRITER_THREAD_H_
#define TRACKER_WRITER_WRITER_THREAD_H_

#include <pthread.h>

#include <string>

namespace memoir {

// Runs `body` on a new thread, which the caller must join. Returns 0, or the error number.
int StartWriterThread(void* (*body)(void*), void* argument, pthread_t* thread);
// Returns one line with the error of StartWriterThread and its remedy.
std::string ThreadStartError(int failed);

// Call it on a thread before the thread may throw for the first time. Returns false if there is no memory; then the
// thread must not throw. libstdc++ allocates state for each thread that throws. If there is no memory for this state,
// the loader ends the program. A successful call has allocated it.
bool HasMemoryToThrow();

}  // namespace memoir

#endif  // TRACKER_WRITER_WRITER_THREAD_H_
