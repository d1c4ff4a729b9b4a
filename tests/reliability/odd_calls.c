// Preloaded into a program: calls on Memoir's files take long, are interrupted or do only a part; clocks step.
//
// A file is Memoir's when its name ends in .memoir: what the program writes itself is left alone.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

enum Clock { kRight, kBackAndForth, kStandsStill, kYearAhead, kDayBack };

static _Atomic long slow_us, interrupts_each, part_each;
static _Atomic int clock_mode;
static _Atomic long writes, readings;

SHOWN void odd_calls_write(long microseconds, long each_interrupted, long each_in_part) {
  slow_us = microseconds, interrupts_each = each_interrupted, part_each = each_in_part;
}
SHOWN void odd_calls_clock(int mode) { clock_mode = mode; }
SHOWN long odd_calls_writes(void) { return writes; }
SHOWN long odd_calls_readings(void) { return readings; }

static int IsMemoirs(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/thread-self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  const char* end = strrchr(path, '.');
  return end != NULL && strcmp(end, ".memoir") == 0;
}

SHOWN ssize_t write(int file, const void* bytes, size_t size) {
  if ((slow_us != 0 || interrupts_each != 0 || part_each != 0) && IsMemoirs(file)) {
    const long number = atomic_fetch_add(&writes, 1) + 1;
    const struct timespec pause = {slow_us / 1000000, slow_us % 1000000 * 1000};
    if (slow_us != 0) syscall(SYS_nanosleep, &pause, NULL);
    if (interrupts_each != 0 && number % interrupts_each == 0) {
      errno = EINTR;
      return -1;
    }
    if (part_each != 0 && number % part_each == 0 && size > 1) size /= 2;
  }
  return syscall(SYS_write, file, bytes, size);
}

// Of a clock that somebody sets while the program runs: only the one of the day can be set.
SHOWN int clock_gettime(clockid_t which, struct timespec* now) {
  static _Atomic long still;
  const int result = (int)syscall(SYS_clock_gettime, which, now);
  if (which != CLOCK_REALTIME || result != 0 || clock_mode == kRight) return result;
  const long number = atomic_fetch_add(&readings, 1);
  switch (clock_mode) {
    case kBackAndForth:
      now->tv_sec += number % 2 == 0 ? -3600 : 3600;
      break;
    case kStandsStill: {
      long expected = 0;
      atomic_compare_exchange_strong(&still, &expected, now->tv_sec);
      now->tv_sec = still, now->tv_nsec = 0;
      break;
    }
    case kYearAhead:
      now->tv_sec += 365 * 86400;
      break;
    default:
      now->tv_sec -= 86400;
  }
  return 0;
}
