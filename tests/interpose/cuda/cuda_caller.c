// A library that uses CUDA: through import slots, and by look-ups.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);
int cublasCreate_v2(void** handle);

int caller_allocate(void** pointer, size_t bytes);
int caller_free(void* pointer);
int caller_handle(void);
void* caller_find(void* handle, const char* name);
void* caller_find_next(const char* name);
void* caller_find_default(const char* name);
int caller_call(int (*function)(uint64_t*, size_t), uint64_t* address, size_t bytes);
int caller_answer(void);

// The result is volatile, so that no call is the last thing done: a jump would leave no trace of this library.
int caller_allocate(void** pointer, size_t bytes) {
  volatile const int result = cudaMalloc(pointer, bytes);
  return result;
}
int caller_free(void* pointer) {
  volatile const int result = cudaFree(pointer);
  return result;
}
// Not as a last call, which would leave this library before the look-up.
void* caller_find(void* handle, const char* name) {
  void* volatile found = dlsym(handle, name);
  return found;
}
void* caller_find_next(const char* name) {
  void* volatile found = dlsym(RTLD_NEXT, name);
  return found;
}
void* caller_find_default(const char* name) {
  void* volatile found = dlsym(RTLD_DEFAULT, name);
  return found;
}
int caller_call(int (*function)(uint64_t*, size_t), uint64_t* address, size_t bytes) {
  volatile const int result = function(address, bytes);
  return result;
}
// The next one of that name is fake_next.c's, as seen from here; from elsewhere this one is the first.
int caller_answer(void) { return 1; }
int cublasCreate_v2(void** handle) {
  *handle = NULL;
  return 3;
}
int caller_handle(void) {
  void* handle;
  volatile const int result = cublasCreate_v2(&handle);
  return result;
}
