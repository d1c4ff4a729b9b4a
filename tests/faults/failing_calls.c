// Preloaded into a program: makes calls that Memoir's libraries make fail, one by one.
//
// A call is Memoir's when one of its libraries is on the stack, so what libstdc++, torch and libc do for it counts, too;
// and what the program does for itself never fails. Memory that is allocated for tensors is left alone
// (posix_memalign): its lack is the program's. So is what the loader allocates while `spares_loader`: a thread that
// has no memory for its thread-local storage ends any program.
//
// Also takes 600 KiB of static thread-local storage, and with it of each thread's stack.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#define SHOWN __attribute__((visibility("default")))

enum Call { kNone, kMalloc, kNew, kMmap, kOpen, kWrite, kFtruncate, kFallocate, kPthreadCreate, kClose };

struct Range {
  uintptr_t begin, end;
};
enum { kMostRanges = 16 };

static struct Range ours[kMostRanges], loader;
static int our_count;
static _Atomic int armed;  // a Call
static _Atomic long calls, fails_at;
static _Atomic int forever, error_number, spares_loader, only_here;
static __thread int inside, here;
static __thread char storage[600 * 1024];

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

static int Holds(const struct Range* range, uintptr_t at) { return at >= range->begin && at < range->end; }

static int AddObject(struct dl_phdr_info* object, size_t size, void* nothing) {
  (void)size, (void)nothing;
  const char* name = object->dlpi_name == NULL ? "" : object->dlpi_name;
  const int is_ours = strstr(name, "libmemoir_interpose") != NULL || strstr(name, "libmemoir_tracker") != NULL;
  const int is_loader = strstr(name, "/ld-linux") != NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    const struct Range range = {object->dlpi_addr + part->p_vaddr, object->dlpi_addr + part->p_vaddr + part->p_memsz};
    if (is_ours && our_count < kMostRanges) ours[our_count++] = range;
    if (is_loader) loader = range;
  }
  return 0;
}

struct Look {
  int ours, frames;
};

static _Unwind_Reason_Code OnFrame(struct _Unwind_Context* context, void* argument) {
  struct Look* look = argument;
  const uintptr_t at = _Unwind_GetIP(context);
  for (int i = 0; i < our_count; ++i) look->ours |= Holds(&ours[i], at);
  return look->ours || ++look->frames == 60 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// Whether this call is to fail; errno is set then.
static int Fails(enum Call call, const void* caller) {
  if (atomic_load_explicit(&armed, memory_order_relaxed) != (int)call || inside) return 0;
  if (atomic_load(&only_here) && !here) return 0;
  if (atomic_load(&spares_loader) && Holds(&loader, (uintptr_t)caller)) return 0;
  inside = 1;
  struct Look look = {0, 0};
  _Unwind_Backtrace(OnFrame, &look);
  inside = 0;
  if (!look.ours) return 0;
  const long now = atomic_fetch_add(&calls, 1) + 1;
  const long at = atomic_load(&fails_at);
  if (now != at && !(now > at && atomic_load(&forever))) return 0;
  errno = atomic_load(&error_number);
  return 1;
}
#define FAILS(call) Fails(call, __builtin_return_address(0))

// From the `at`-th such call on, or only that one. Looks for Memoir's libraries anew.
SHOWN void failing_calls_arm(int call, long at, int for_ever, int number, int spare_loader) {
  our_count = 0;
  storage[sizeof storage - 1] = 1;
  dl_iterate_phdr(AddObject, NULL);
  struct Look look = {0, 0};
  _Unwind_Backtrace(OnFrame, &look);  // what the unwinder allocates, it allocates now
  atomic_store(&calls, 0);
  atomic_store(&fails_at, at);
  atomic_store(&forever, for_ever);
  atomic_store(&error_number, number);
  atomic_store(&spares_loader, spare_loader);
  atomic_store(&armed, call);
}

// From here on only those of the calling thread. To be called before they are armed.
SHOWN void failing_calls_only_here(void) {
  here = 1;
  atomic_store(&only_here, 1);
}

// How many such calls there were.
SHOWN long failing_calls_disarm(void) {
  atomic_store(&armed, kNone);
  return atomic_load(&calls);
}

SHOWN void* malloc(size_t bytes) { return FAILS(kMalloc) ? NULL : __libc_malloc(bytes); }
SHOWN void* calloc(size_t count, size_t bytes) { return FAILS(kMalloc) ? NULL : __libc_calloc(count, bytes); }
SHOWN void* realloc(void* memory, size_t bytes) { return FAILS(kMalloc) ? NULL : __libc_realloc(memory, bytes); }

// libstdc++'s own, which throws what it throws; asked for too much where the call is to fail.
static void* Original(const char* name) {
  static void* library;
  if (library == NULL) library = dlopen("libstdc++.so.6", RTLD_LAZY);
  return dlsym(library, name);
}
#define NEW(name)                                                                         \
  SHOWN void* name(size_t bytes) {                                                        \
    static void* (*original)(size_t);                                                     \
    if (original == NULL) original = (void* (*)(size_t))Original(#name);                  \
    return original(FAILS(kNew) ? (size_t)PTRDIFF_MAX : bytes);                           \
  }
#define NEW_NOTHROW(name)                                                                 \
  SHOWN void* name(size_t bytes, const void* tag) {                                       \
    static void* (*original)(size_t, const void*);                                        \
    if (original == NULL) original = (void* (*)(size_t, const void*))Original(#name);     \
    return original(FAILS(kNew) ? (size_t)PTRDIFF_MAX : bytes, tag);                      \
  }
NEW(_Znwm)
NEW(_Znam)
NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
NEW_NOTHROW(_ZnamRKSt9nothrow_t)

SHOWN void* mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset) {
  if (FAILS(kMmap)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, bytes, access, flags, file, offset);
}
SHOWN void* mmap64(void* at, size_t bytes, int access, int flags, int file, off_t offset) __attribute__((alias("mmap")));

static int OpenAt(int folder, const char* path, int flags, va_list more) {
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}
#define OPEN(name)                                                  \
  SHOWN int name(const char* path, int flags, ...) {                \
    if (FAILS(kOpen)) return -1;                                    \
    va_list more;                                                   \
    va_start(more, flags);                                          \
    const int file = OpenAt(AT_FDCWD, path, flags, more);           \
    va_end(more);                                                   \
    return file;                                                    \
  }
#define OPEN_AT(name)                                               \
  SHOWN int name(int folder, const char* path, int flags, ...) {    \
    if (FAILS(kOpen)) return -1;                                    \
    va_list more;                                                   \
    va_start(more, flags);                                          \
    const int file = OpenAt(folder, path, flags, more);             \
    va_end(more);                                                   \
    return file;                                                    \
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

SHOWN ssize_t write(int file, const void* bytes, size_t size) {
  // What is said is looked at: it is not lost.
  return file != STDERR_FILENO && FAILS(kWrite) ? -1 : syscall(SYS_write, file, bytes, size);
}
SHOWN ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return FAILS(kWrite) ? -1 : syscall(SYS_pwrite64, file, bytes, size, at);
}
SHOWN ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) __attribute__((alias("pwrite")));
SHOWN ssize_t writev(int file, const struct iovec* parts, int count) {
  return FAILS(kWrite) ? -1 : syscall(SYS_writev, file, parts, count);
}
SHOWN int ftruncate(int file, off_t size) { return FAILS(kFtruncate) ? -1 : (int)syscall(SYS_ftruncate, file, size); }
SHOWN int ftruncate64(int file, off_t size) __attribute__((alias("ftruncate")));
SHOWN int posix_fallocate(int file, off_t from, off_t size) {
  if (FAILS(kFallocate)) return errno;
  return syscall(SYS_fallocate, file, 0, from, size) == 0 ? 0 : errno;
}
SHOWN int posix_fallocate64(int file, off_t from, off_t size) __attribute__((alias("posix_fallocate")));

// It is closed all the same, as Linux does.
SHOWN int close(int file) {
  const int fails = FAILS(kClose);
  const int number = errno;
  const int closed = (int)syscall(SYS_close, file);
  if (fails) errno = number;
  return fails ? -1 : closed;
}

SHOWN int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  static int (*original)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (original == NULL) original = (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  return FAILS(kPthreadCreate) ? errno : original(made, attributes, body, argument);
}
