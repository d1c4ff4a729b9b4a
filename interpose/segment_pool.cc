#include "interpose/segment_pool.h"

#include <algorithm>

#include "interpose/futex.h"
#include "interpose/lifecycle.h"
#include "interpose/tick.h"

namespace memoir {
namespace {

constexpr std::uint64_t kIndexMask = 0xffffffffu;
constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;
// A wait looks this often whether recording was switched off, should a wake have been missed.
constexpr std::uint64_t kWaitSliceNs = 50'000'000;
// A wait while every segment has an owner: one comes back only when another thread happens to fill its own.
constexpr std::uint64_t kMaxVainWaitNs = 20'000'000;

std::uint64_t NextHead(std::uint64_t head, std::uint32_t top) { return (((head & ~kIndexMask) + kOneChange) | top); }

std::uint32_t Pop(const RingMap& ring) {
  RingHeader& header = *ring.header;
  std::uint64_t head = header.free_head.load(std::memory_order_acquire);
  for (;;) {
    const auto top = static_cast<std::uint32_t>(head & kIndexMask);
    if (top == 0) return kNoSegment;
    // May be stale when another thread popped in between; then the exchange fails.
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
  if (left < ring.segment_count / 2) WakeReader(ring);
  return segment;
}

std::uint64_t MaxWaitNs(const RingMap& ring) {
  const std::uint64_t max_ns = ring_state.max_wait_ns.load(std::memory_order_relaxed);
  const bool in_vain = ring.header->full_count.load(std::memory_order_relaxed) == 0;
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
  // From here on nobody waits in vain again: each stall costs the program its bound once.
  if (segment == kNoSegment) header.stalled.store(1, std::memory_order_relaxed);
  return segment;
}

}  // namespace

void InitPool(const RingMap& ring) {
  ring.header->free_count.store(ring.segment_count, std::memory_order_relaxed);
  for (std::uint32_t segment = ring.segment_count; segment > 0; --segment) Push(ring, segment - 1);
}

std::uint32_t TakeSegment(const RingMap& ring, OnEmptyPool on_empty) {
  const std::uint32_t segment = TryTake(ring);
  if (segment != kNoSegment || on_empty == OnEmptyPool::kDrop) return segment;
  if (ring.header->stalled.load(std::memory_order_relaxed) != 0) return kNoSegment;
  return WaitForSegment(ring);
}

void GiveSegmentBack(const RingMap& ring, std::uint32_t segment) {
  // Counted before it can be taken, so that the count never falls below zero.
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
