// Finds out from the kernel whether a page of this process is writable. This code needs no library except libc, and
// allocates nothing.
#ifndef INTERPOSE_IMPORTS_PAGE_ACCESS_H_
#define INTERPOSE_IMPORTS_PAGE_ACCESS_H_

#include <cstdint>

namespace memoir {

// Whether the page of `address` is writable. False if nothing is mapped there. May be called on any thread.
bool IsWritable(std::uintptr_t address);

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_PAGE_ACCESS_H_
