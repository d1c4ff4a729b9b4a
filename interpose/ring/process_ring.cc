#include "interpose/ring/process_ring.h"

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constinit const std::atomic<std::uint32_t> never_enabled[2]{};

}  // namespace

constinit RingState ring_state{.page = nullptr,
                               .map = {},
                               .generation = 0,
                               .range_epoch = 0,
                               .max_wait_ns = kMaxWaitNs,
                               .exit_key = 0,
                               .exit_key_made = false,
                               .fd = -1,
                               .path = {}};
constinit thread_local bool thread_has_left = false;

extern "C" {
constinit thread_local ThreadSlot* memoir_thread_slot = nullptr;
// Points to read-only memory until MakeForkWipedPage sets it, so that a program that sets the flag without a ring
// crashes at once.
constinit std::atomic<std::uint32_t>* memoir_enabled_flag = const_cast<std::atomic<std::uint32_t>*>(never_enabled);
constinit bool memoir_tick_is_counter = false;
const std::uint32_t memoir_ring_layout_13 = kRingVersion;
}

RingVisit::RingVisit() : page_(ring_state.page.load(std::memory_order_acquire)) {
  if (page_ == nullptr) return;
  // The visit is counted before the generation is read. RingClose clears the generation before it waits for visitors,
  // so it cannot miss a thread whose visit saw the ring open.
  page_->visitors.fetch_add(1, std::memory_order_seq_cst);
  if (page_->generation.load(std::memory_order_seq_cst) != 0) map_ = ring_state.map;
}

RingVisit::~RingVisit() {
  if (page_ != nullptr) page_->visitors.fetch_sub(1, std::memory_order_release);
}

bool RingVisit::IsStillOpen() const { return page_->generation.load(std::memory_order_acquire) == map_.generation; }

const RingMap* OpenRing() {
  ForkWipedPage* page = ring_state.page.load(std::memory_order_acquire);
  if (page == nullptr || page->generation.load(std::memory_order_acquire) == 0) return nullptr;
  return &ring_state.map;
}

}  // namespace memoir
