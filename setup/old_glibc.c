/* Names that static libraries built on a newer system ask of libc, for programs and libraries that are to start on glibc 2.28
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

/* glibc 2.29 has a log2 that leaves errno alone; the one before serves as well. -Wl,--wrap=log2 leads here. */
double log2_of_2_2_5(double);
__asm__(".symver log2_of_2_2_5,log2@GLIBC_2.2.5");
HIDDEN double __wrap_log2(double x) { return log2_of_2_2_5(x); }

/* Likewise, for SQLite's functions of numbers. */
double exp_of_2_2_5(double);
__asm__(".symver exp_of_2_2_5,exp@GLIBC_2.2.5");
HIDDEN double __wrap_exp(double x) { return exp_of_2_2_5(x); }
double log_of_2_2_5(double);
__asm__(".symver log_of_2_2_5,log@GLIBC_2.2.5");
HIDDEN double __wrap_log(double x) { return log_of_2_2_5(x); }
double pow_of_2_2_5(double, double);
__asm__(".symver pow_of_2_2_5,pow@GLIBC_2.2.5");
HIDDEN double __wrap_pow(double x, double y) { return pow_of_2_2_5(x, y); }
