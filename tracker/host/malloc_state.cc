#include "tracker/host/malloc_state.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cstring>

namespace memoir {
namespace {

// The struct mallinfo2 of mallinfo2(3), which headers before glibc 2.33 lack.
struct Counts {
  std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

const char* LibraryOf(void* function) {
  Dl_info info{};
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fname : nullptr;
}

}  // namespace

MallocState ReadMallocState() {
  void* const counts = dlsym(RTLD_DEFAULT, "mallinfo2");
  const char* const one = LibraryOf(counts);
  const char* const other = LibraryOf(dlsym(RTLD_DEFAULT, "malloc"));
  if (one == nullptr || other == nullptr || std::strcmp(one, other) != 0) return {};
  const Counts now = reinterpret_cast<Counts (*)()>(counts)();
  // uordblks: bytes in use in arenas. hblkhd: bytes in separate mappings. fordblks: free bytes in arenas.
  return {now.uordblks + now.hblkhd, now.fordblks};
}

}  // namespace memoir
