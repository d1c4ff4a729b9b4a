#include "interpose/system/own_thread.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>

namespace memoir {
namespace {

constexpr std::size_t kPageBytes = 4096;

// Returns at least the bytes of static thread-local storage that glibc takes from each stack: the storage of all loaded
// objects, and a surplus for objects that are loaded later (glibc.rtld.optional_static_tls and similar tunables, 2 KiB
// by default).
std::size_t StorageOfAllModules() {
  constexpr std::size_t kSurplus = 16 * 1024;
  std::size_t bytes = kSurplus;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* sum) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          if (segment.p_type == PT_TLS) *static_cast<std::size_t*>(sum) += segment.p_memsz + segment.p_align;
        }
        return 0;
      },
      &bytes);
  return bytes;
}

// Blocks all signals, including SIGSEGV and other signals of faults, until the end of the scope.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// glibc computes this number in the function __pthread_get_minstack, which Java and Rust also call. The function is not
// public, so it may be missing.
std::size_t ReservedStackBytes() {
  const auto least =
      reinterpret_cast<std::size_t (*)(const pthread_attr_t*)>(dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
  pthread_attr_t attributes;
  if (least == nullptr || pthread_attr_init(&attributes) != 0) return StorageOfAllModules();
  const std::size_t bytes = least(&attributes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

int StartOwnThread(const OwnThread& thread, pthread_t* made) {
  pthread_attr_t attributes;
  if (const int failed = pthread_attr_init(&attributes); failed != 0) return failed;
  const std::size_t stack = thread.stack_bytes + ReservedStackBytes();
  pthread_attr_setstacksize(&attributes, (stack + kPageBytes - 1) / kPageBytes * kPageBytes);
  if (made == nullptr) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t created;
  int failed;
  {
    const BlockSignals blocked;  // the new thread inherits the set of blocked signals
    failed = pthread_create(&created, &attributes, thread.body, thread.argument);
  }
  pthread_attr_destroy(&attributes);
  if (failed != 0) return failed;
  if (made != nullptr) *made = created;
  return 0;
}

}  // namespace memoir
