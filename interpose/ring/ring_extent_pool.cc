#include "interpose/ring/ring_extent_pool.h"

#include <algorithm>

#include "interpose/ring/process_ring.h"
#include "interpose/ring/ring_growth.h"
#include "interpose/system/futex.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::uint64_t kIndexMask = 0xffffffffu;
constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;
// The interval at which a waiting thread checks whether recording was switched off, in case it missed a wake.
constexpr std::uint64_t kWaitSliceNs = 50'000'000;
// The longest wait while every extent has an owner. In this state an extent becomes free only after another thread
// fills its extent or ends, which may take any time.
constexpr std::uint64_t kMaxVainWaitNs = 20'000'000;

std::uint64_t NextHead(std::uint64_t head, std::uint32_t top) { return (((head & ~kIndexMask) + kOneChange) | top); }

std::uint32_t Pop(const RingMap& ring) {
  RingHeader& header = *ring.header;
  std::uint64_t head = header.free_head.load(std::memory_order_acquire);
  for (;;) {
    const auto top = static_cast<std::uint32_t>(head & kIndexMask);
    if (top == 0) return kNoSegment;
    // If another thread has popped this extent meanwhile, `next` is stale, and the exchange below fails.
    const std::uint32_t next = ring.segment_headers[top - 1].next_free.load(std::memory_order_relaxed);
    if (header.free_head.compare_exchange_weak(head, NextHead(head, next), std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
      return top - 1;
    }
  }
}

void Push(const RingMap& ring, std::uint32_t segment) {
  RingHeader& header = *ring.header;
  std::uint64_t head = header.free_head.load(std::memory_order_relaxed);
  do {
    ring.segment_headers[segment].next_free.store(static_cast<std::uint32_t>(head & kIndexMask),
                                                  std::memory_order_relaxed);
  } while (!header.free_head.compare_exchange_weak(head, NextHead(head, segment + 1), std::memory_order_acq_rel,
                                                   std::memory_order_relaxed));
}

std::uint32_t TryTake(const RingMap& ring) {
  const std::uint32_t segment = Pop(ring);
  if (segment == kNoSegment) {
    WakeReader(ring);
    return kNoSegment;
  }
  const std::uint32_t left = ring.header->free_count.fetch_sub(1, std::memory_order_relaxed) - 1;
  if (left < ring.ExtentsInUse() / 2) WakeReader(ring);
  return segment;
}

std::uint64_t MaxWaitNs(const RingMap& ring) {
  const std::uint64_t max_ns = ring_state.max_wait_ns.load(std::memory_order_relaxed);
  const bool in_vain = ring.header->full_count.load(std::memory_order_relaxed) == 0 && !MayGrow(ring);
  return in_vain ? std::min(max_ns, kMaxVainWaitNs) : max_ns;
}

std::uint32_t WaitForSegment(const RingMap& ring) {
  RingHeader& header = *ring.header;
  const std::uint64_t start = MonotonicNs();
  header.waits.fetch_add(1, std::memory_order_relaxed);
  header.freed_waiters.fetch_add(1, std::memory_order_seq_cst);
  std::uint32_t segment;
  std::uint64_t waited = 0;
  for (;;) {
    const std::uint32_t seen = header.freed_word.load(std::memory_order_seq_cst);
    segment = TryTake(ring);
    waited = MonotonicNs() - start;
    const std::uint64_t max_ns = MaxWaitNs(ring);
    if (segment != kNoSegment || waited >= max_ns || RecordingGeneration() != ring.generation) break;
    FutexWait(&header.freed_word, seen, std::min(max_ns - waited, kWaitSliceNs));
  }
  header.freed_waiters.fetch_sub(1, std::memory_order_relaxed);
  header.wait_ns.fetch_add(waited, std::memory_order_relaxed);
  // After a wait has timed out, threads drop records at once until an extent is freed. So each stall costs the program
  // the longest wait only once.
  if (segment == kNoSegment) header.stalled.store(1, std::memory_order_relaxed);
  return segment;
}

}  // namespace

void AddExtents(const RingMap& ring, std::uint32_t first, std::uint32_t count) {
  // The extents are counted before threads can take them, so that the count never falls below zero.
  ring.header->free_count.fetch_add(count, std::memory_order_relaxed);
  for (std::uint32_t segment = first + count; segment > first; --segment) Push(ring, segment - 1);
  ring.header->stalled.store(0, std::memory_order_relaxed);
  WakeProducers(ring);
}

std::uint32_t TakeExtent(const RingMap& ring, OnEmptyPool on_empty) {
  const std::uint32_t segment = TryTake(ring);
  if (segment != kNoSegment || on_empty == OnEmptyPool::kDrop) return segment;
  if (ring.header->stalled.load(std::memory_order_relaxed) != 0) return kNoSegment;
  return WaitForSegment(ring);
}

void ReturnExtent(const RingMap& ring, std::uint32_t segment) {
  ring.header->free_count.fetch_add(1, std::memory_order_relaxed);
  ring.header->full_count.fetch_sub(1, std::memory_order_relaxed);
  Push(ring, segment);
  ring.header->stalled.store(0, std::memory_order_relaxed);
}

void WakeProducers(const RingMap& ring) {
  ring.header->freed_word.fetch_add(1, std::memory_order_seq_cst);
  if (ring.header->freed_waiters.load(std::memory_order_seq_cst) != 0) FutexWakeAll(&ring.header->freed_word);
}

void WakeReader(const RingMap& ring) {
  ring.header->work_word.fetch_add(1, std::memory_order_seq_cst);
  if (ring.header->reader_waiting.load(std::memory_order_seq_cst) != 0) FutexWakeAll(&ring.header->work_word);
}

}  // namespace memoir
