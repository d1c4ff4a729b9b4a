#include "tracker/stacks/hook_scratch.h"

#include <sys/mman.h>

namespace memoir {

void* MapHookScratch(ThreadSlot* slot) {
  constexpr std::size_t kBytes = kRangesBytes + kStackBytes + kCallsBytes;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  slot->scratch_bytes = kBytes;
  slot->scratch = reinterpret_cast<std::uint64_t>(memory);
  return memory;
}

}  // namespace memoir
