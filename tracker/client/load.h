/* Finds Memoir while a program runs, and fills a table with functions of memoir.h. Header only, for C99 and C++. A
 * program that includes this file links no library of Memoir, runs the same if Memoir is not installed, and works with
 * every version of torch for which Memoir has a tracker.
 *
 *     struct memoir_functions memoir;
 *     char message[1024];
 *     if (memoir_load(&memoir, message, sizeof message) != 0) return fprintf(stderr, "memoir: %s\n", message), 0;
 *     const char* settings[] = {"output=run1", NULL};
 *     memoir.start(settings, message, sizeof message);
 *
 * This header calls dlopen and dlsym. With glibc before 2.34, the program must therefore link libdl. The functions may
 * be called on any thread.
 */
#ifndef TRACKER_CLIENT_LOAD_H_
#define TRACKER_CLIENT_LOAD_H_

#include <dlfcn.h>
#include <memoir.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* clang-format off */
#define MEMOIR_FUNCTIONS(X)                                                                                     \
  X(start) X(stop) X(uncaught) X(forked) X(rank) X(cuda_is_ready) X(mark) X(step) X(define_module)              \
  X(enter_module) X(exit_module) X(module_holds) X(set_parameter) X(forget_parameter) X(recording_modules)      \
  X(begin_range) X(end_range) X(optimizer_holds) X(parts) X(recordings) X(flush) X(pause) X(resume) X(level)    \
  X(recording) X(output) X(torch_version) X(snapshot) X(coordinates)
/* clang-format on */

/* The functions of memoir.h, named without their prefix: `start` is memoir_start. */
struct memoir_functions {
#define MEMOIR_POINTER(name) __typeof__(&memoir_##name) name;
  MEMOIR_FUNCTIONS(MEMOIR_POINTER)
#undef MEMOIR_POINTER
};

/* Returns the message of dlopen's last error, or a default message. */
static inline const char* memoir_loader_says(void) {
  const char* why = dlerror();
  return why == NULL ? "it cannot be loaded" : why;
}

/* Fills the table with the functions of a loaded tracker. Returns 0; -1 if the tracker lacks a function, with one line
 * in `message`. ISO C has no casts from object pointers to function pointers, but POSIX requires them; `__extension__`
 * prevents the warning of the compiler. */
static inline int memoir_fill_from(void* tracker, struct memoir_functions* functions, char* message, size_t size) {
  const char* lacks = NULL;
#define MEMOIR_LOOK_UP(name)                                                                    \
  functions->name = __extension__(__typeof__(functions->name)) dlsym(tracker, "memoir_" #name); \
  if (functions->name == NULL) lacks = "memoir_" #name;
  MEMOIR_FUNCTIONS(MEMOIR_LOOK_UP)
#undef MEMOIR_LOOK_UP
  if (lacks == NULL) return 0;
  snprintf(message, size, "the Memoir that is installed is older than this program's headers: it lacks %s", lacks);
  return -1;
}

/* Fills the table with the functions of the tracker that the interposer finds. If `load` is not 0, the interposer first
 * loads the tracker if necessary. Returns 0; -1 on failure, with one line in `message`. */
static inline int memoir_fill(void* interposer, int load, struct memoir_functions* functions, char* message,
                              size_t size) {
  typedef void* (*memoir_tracker_of)(int, char*, size_t);
  const memoir_tracker_of tracker_of = __extension__(memoir_tracker_of) dlsym(interposer, "memoir_tracker");
  void* tracker;
  if (tracker_of == NULL) {
    snprintf(message, size, "the Memoir in this process is older than this program's headers; update it");
    return -1;
  }
  tracker = tracker_of(load, message, size);
  return tracker == NULL ? -1 : memoir_fill_from(tracker, functions, message, size);
}

/* Finds the functions of a Memoir that is already in this process: under `memoir run`, in a recorded Python program, or
 * after memoir_load. Returns 0; -1 if Memoir or its tracker is not loaded in this process, or lacks a function. */
static inline int memoir_find(struct memoir_functions* functions) {
  char message[1024];
  void* interposer = dlopen("libmemoir_interpose.so", RTLD_NOW | RTLD_NOLOAD);
  const int failed = interposer == NULL ? -1 : memoir_fill(interposer, 0, functions, message, sizeof message);
  if (failed != 0) (void)dlerror(); /* discards the message */
  return failed;
}

/* Like memoir_find, but first loads Memoir if it is not in this process, with the tracker for this process's libtorch.
 * If the environment variable MEMOIR_HOME is set, the interposer is loaded from lib/memoir of that folder. Otherwise
 * dlopen searches for the interposer in the run path of the object that contains this code (the CMake package and
 * memoir.pc set this path to the installed tree), in LD_LIBRARY_PATH, and in the system's folders. Returns 0. On
 * failure returns -1, and writes one line (cause and remedy), cut to `size` bytes, into `message`. */
static inline int memoir_load(struct memoir_functions* functions, char* message, size_t size) {
  static const char name[] = "libmemoir_interpose.so";
  const char* home = getauxval(AT_SECURE) != 0 ? NULL : getenv("MEMOIR_HOME"); /* ignored in a setuid program */
  char path[4096];
  void* interposer = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (interposer == NULL && home != NULL && *home != '\0') {
    snprintf(path, sizeof path, "%s/lib/memoir/%s", home, name);
    interposer = dlopen(path, RTLD_NOW);
    if (interposer == NULL) {
      snprintf(message, size, "MEMOIR_HOME=%s has no Memoir: %s", home, memoir_loader_says());
      return -1;
    }
  }
  if (interposer == NULL) interposer = dlopen(name, RTLD_NOW);
  if (interposer == NULL) {
    snprintf(message, size, "%s; set MEMOIR_HOME to the folder in which Memoir is installed", memoir_loader_says());
    return -1;
  }
  return memoir_fill(interposer, 1, functions, message, size);
}

#endif /* TRACKER_CLIENT_LOAD_H_ */
