// Runs a function on a thread of its own.
#include <pthread.h>
#include <stdint.h>

int slots_run_thread(int (*function)(void));

static void* Run(void* function) { return (void*)(intptr_t)((int (*)(void))(intptr_t)function)(); }

int slots_run_thread(int (*function)(void)) {
  pthread_t thread;
  void* result = 0;
  if (pthread_create(&thread, 0, Run, (void*)(intptr_t)function) != 0) return -1;
  pthread_join(thread, &result);
  return (int)(intptr_t)result;
}
