#include "tools/cli/doctor/own_table_check.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

namespace memoir {

DoctorCheck CheckOwnTable() {
  bool by_close_range = false, by_unshare = false;
  std::thread([&] {
    by_close_range = syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
    by_unshare = by_close_range || unshare(CLONE_FILES) == 0;
  }).join();
  if (by_unshare) {
    return {DoctorCheck::Level::kFine, "descriptors",
            std::string("Memoir's files are in a separate table of descriptors (") +
                (by_close_range ? "close_range" : "unshare") + ")",
            ""};
  }
  return {DoctorCheck::Level::kNote, "descriptors",
          "Memoir's files are in the program's table: close_range and unshare are refused; a program that closes files "
          "which it did not open can disturb the recording",
          "Linux 5.9 or newer, and a sandbox that allows close_range"};
}

}  // namespace memoir
