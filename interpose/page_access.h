// Whether a page of this process can be written to, by the kernel's word. libc only; allocates nothing.
#ifndef INTERPOSE_PAGE_ACCESS_H_
#define INTERPOSE_PAGE_ACCESS_H_

#include <cstdint>

namespace memoir {

// False also where nothing is mapped at `address`, or /proc cannot be read. Reads a file of as many lines as the
// process has mappings. Any thread, but not in a signal handler.
bool IsWritable(std::uintptr_t address);

}  // namespace memoir

#endif  // INTERPOSE_PAGE_ACCESS_H_
