// Finds out from the kernel whether a page of this process is writable. libc only; allocates nothing.
#ifndef INTERPOSE_IMPORTS_PAGE_ACCESS_H_
#define INTERPOSE_IMPORTS_PAGE_ACCESS_H_

#include <cstdint>

namespace memoir {

// Whether the page of `address` is writable. False if nothing is mapped there. Any thread.
bool IsWritable(std::uintptr_t address);

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_PAGE_ACCESS_H_
