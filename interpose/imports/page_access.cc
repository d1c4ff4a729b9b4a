#include "interpose/imports/page_access.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memoir {

// Makes the kernel execute an atomic "or" with zero on the word at `address`, which changes nothing. The kernel refuses
// (EFAULT) if the page is not writable. Reading /proc instead would need a descriptor on a thread of the program.
bool IsWritable(std::uintptr_t address) {
  std::uint32_t nobody_waits = 0;
  const auto word = address & ~std::uintptr_t{3};
  return syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word,
                 FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

}  // namespace memoir
