#include "interpose/ring/ring_growth.h"

#include <sys/mman.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "interpose/ring/ring_extent_pool.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels refuse it
#endif

namespace memoir {
namespace {

constexpr std::uint32_t kStep = (32u << 20) / kSegmentBytes;

// Whether the folder has room for twice `bytes`. Half of this room stays free, because the program may need it.
bool HasTwice(const char* path, std::uint64_t bytes) {
  struct statvfs room;
  return statvfs(path, &room) == 0 && std::uint64_t{room.f_bavail} * room.f_frsize >= 2 * bytes;
}

// The number of extents that threads hold: neither free nor full.
std::uint32_t HeldByThreads(const RingHeader& header, std::uint32_t in_use) {
  const std::uint32_t others =
      header.free_count.load(std::memory_order_relaxed) + header.full_count.load(std::memory_order_relaxed);
  return others < in_use ? in_use - others : 0;
}

}  // namespace

bool MayGrow(const RingMap& ring) {
  return ring.ExtentsInUse() < ring.segment_count && ring.header->may_grow.load(std::memory_order_relaxed) != 0;
}

void GrowIfHeld(const RingMap& ring, const char* path) {
  RingHeader& header = *ring.header;
  const std::uint32_t in_use = ring.ExtentsInUse();
  if (!MayGrow(ring) || HeldByThreads(header, in_use) < in_use / 2) return;
  const std::uint32_t more = std::min(kStep, ring.segment_count - in_use);
  const std::size_t bytes = std::size_t{more} * kSegmentBytes;
  // Allocates the pages before any thread gets one of the new extents, so that no store can fault later. madvise fails
  // if the folder has no room.
  if (!HasTwice(path, bytes) || madvise(ring.ExtentBytes(in_use), bytes, MADV_POPULATE_WRITE) != 0) {
    header.may_grow.store(0, std::memory_order_relaxed);
    return;
  }
  header.segments_in_use.store(in_use + more, std::memory_order_release);
  AddExtents(ring, in_use, more);
}

}  // namespace memoir
