/* Names that static libraries and headers of a newer system ask of libc and libstdc++, for programs and libraries that are to start on glibc 2.28
 * (docs/decisions/0008-one-wheel.md). Linked, hidden, into each of a wheel's; never part of another build. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.32: libstdc++ then leaves out atomic instructions. That the process has several threads is always a safe answer. */
HIDDEN char __libc_single_threaded = 0;

/* glibc 2.36: std::random_device. */
HIDDEN uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}

/* GCC 12's std::vector; libstdc++ has it since GCC 11. Torch's libraries happen to show one from 2.7 on. */
void _ZSt17__throw_bad_allocv(void) __attribute__((weak, noreturn));   /* weak: what has no vectors does without libstdc++ */
__attribute__((weak)) HIDDEN void _ZSt28__throw_bad_array_new_lengthv(void) {
  if (_ZSt17__throw_bad_allocv) _ZSt17__throw_bad_allocv();
  abort();
}

/* glibc's first version for this machine, which all later ones have as well. */
#if defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif

/* glibc 2.29 has a log2 that leaves errno alone; the one before serves as well. -Wl,--wrap=log2 leads here. */
double first_log2(double);
__asm__(".symver first_log2,log2@" FIRST);
HIDDEN double __wrap_log2(double x) { return first_log2(x); }

/* Likewise, for SQLite's functions of numbers. */
double first_exp(double);
__asm__(".symver first_exp,exp@" FIRST);
HIDDEN double __wrap_exp(double x) { return first_exp(x); }
double first_log(double);
__asm__(".symver first_log,log@" FIRST);
HIDDEN double __wrap_log(double x) { return first_log(x); }
double first_pow(double, double);
__asm__(".symver first_pow,pow@" FIRST);
HIDDEN double __wrap_pow(double x, double y) { return first_pow(x, y); }
