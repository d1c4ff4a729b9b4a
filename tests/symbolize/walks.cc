// Ways to a block of torch's that a walk over native frames has to go: each function allocates `bytes` on the CPU and
// frees it. Linked with libtorch_cpu.so.
#include <dlfcn.h>
#include <sys/time.h>

#include <csignal>
#include <cstdint>
#include <thread>

extern "C" {
int aoti_torch_empty_strided(std::int64_t dimensions, const std::int64_t* sizes, const std::int64_t* strides,
                             std::int32_t type, std::int32_t device, std::int32_t index, void** tensor);
int aoti_torch_delete_tensor_object(void* tensor);
}

namespace {

volatile std::sig_atomic_t signals = 0;

// Calls are no jumps: each function stays on the stack.
void Stay() { asm volatile("" ::: "memory"); }

struct Leaver {
  std::int64_t bytes;
  ~Leaver();
};

}  // namespace

#define STAYS extern "C" __attribute__((noinline, visibility("default")))

STAYS void allocate(std::int64_t bytes) {
  const std::int64_t stride = 1;
  void* tensor = nullptr;
  if (aoti_torch_empty_strided(1, &bytes, &stride, 0, 0, 0, &tensor) == 0) aoti_torch_delete_tensor_object(tensor);
}

STAYS void recurse(int depth, std::int64_t bytes) {
  if (depth == 0) {
    allocate(bytes);
  } else {
    recurse(depth - 1, bytes);
  }
  Stay();
}

Leaver::~Leaver() { allocate(bytes); }

STAYS void throws(std::int64_t bytes) {
  const Leaver leaver{bytes};
  throw bytes;
}

// Allocates while the exception passes, and `bytes` + 1 where it is caught.
STAYS void catches(std::int64_t bytes) {
  try {
    throws(bytes);
  } catch (std::int64_t caught) {
    allocate(caught + 1);
  }
  Stay();
}

STAYS void on_thread(std::int64_t bytes) {
  allocate(bytes);
  Stay();
}

STAYS void start_thread_that_allocates(std::int64_t bytes) { std::thread(on_thread, bytes).join(); }

// Through a function of another library, or generated code.
STAYS void through(void (*other)(void (*)(std::int64_t), std::int64_t), std::int64_t bytes) {
  other(allocate, bytes);
  Stay();
}

// Two libraries, whose functions have these names, one after the other; returns whether the second came to where the
// first was, and what the loader knows of it as well.
STAYS int one_after_another(const char* first, const char* first_name, const char* other, const char* other_name,
                            std::int64_t bytes) {
  using Function = void (*)(void (*)(std::int64_t), std::int64_t);
  void* library = dlopen(first, RTLD_NOW);
  void* const handle = library;
  void* const place = dlsym(library, first_name);
  through(reinterpret_cast<Function>(place), bytes);
  dlclose(library);
  library = dlopen(other, RTLD_NOW);
  void* const other_place = dlsym(library, other_name);
  through(reinterpret_cast<Function>(other_place), bytes + 1);
  return library == handle && place == other_place ? 1 : 0;
}

// With a signal each 100 us of the thread's time; returns how many came.
STAYS int under_signals(int times, std::int64_t bytes) {
  struct sigaction action = {};
  action.sa_handler = [](int) { signals = signals + 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  const itimerval often = {{0, 100}, {0, 100}}, never = {};
  setitimer(ITIMER_PROF, &often, nullptr);
  for (int i = 0; i < times; ++i) recurse(i % 50, bytes);
  setitimer(ITIMER_PROF, &never, nullptr);
  return signals;
}
