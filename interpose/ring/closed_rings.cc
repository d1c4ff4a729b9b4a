#include "interpose/ring/closed_rings.h"

#include <sys/mman.h>

#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring.h"

namespace memoir {
namespace {

// The maximum number of closed rings that are kept. A further closed ring is never unmapped.
constexpr std::size_t kMost = 64;
constinit RingMap kept[kMost]{};
constinit std::size_t kept_count = 0;

bool AllHaveLeft(const RingMap& ring) {
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    const ThreadSlot& slot = ring.slots[index];
    if (slot.thread != 0 && slot.left.load(std::memory_order_acquire) == 0) return false;
  }
  return true;
}

void Unmap(const RingMap& ring) {
  for (std::uint32_t index = 0; index < kThreadSlots; ++index) {
    const ThreadSlot& slot = ring.slots[index];
    if (slot.thread != 0 && slot.scratch != 0) munmap(reinterpret_cast<void*>(slot.scratch), slot.scratch_bytes);
  }
  munmap(ring.header, OffsetsFor(ring.segment_count).total);
}

}  // namespace

void KeepClosedRing(const RingMap& ring) {
  if (kept_count < kMost) kept[kept_count++] = ring;
}

void UnmapClosedRings() {
  std::size_t left = 0;
  for (std::size_t i = 0; i < kept_count; ++i) {
    if (AllHaveLeft(kept[i])) {
      Unmap(kept[i]);
    } else {
      kept[left++] = kept[i];
    }
  }
  kept_count = left;
}

void ForgetClosedRings() { kept_count = 0; }

void LeaveRing() {
  memoir_thread_slot = nullptr;
  const ForkWipedPage* page = ring_state.page.load(std::memory_order_acquire);
  // A forked child that has opened no ring inherits its parent's slot, whose memory both processes share. The child
  // must not change that slot.
  if (!ring_state.exit_key_made || page == nullptr || page->opened_here.load(std::memory_order_relaxed) == 0) return;
  auto* slot = static_cast<ThreadSlot*>(pthread_getspecific(ring_state.exit_key));
  if (slot == nullptr || pthread_setspecific(ring_state.exit_key, nullptr) != 0) return;
  slot->left.store(1, std::memory_order_release);
}

}  // namespace memoir
