#include "simcuda/contents/contents.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "simcuda/contents/copy_answers.h"

namespace memoir::simcuda {
namespace {

// Linux's page size, which is 64 KiB on some aarch64 machines. If this file assumed 4 KiB, ReturnPages would
// clear bytes beyond the requested range.
std::uint64_t PageBytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
std::uint64_t PageDown(std::uint64_t address) { return address & ~(PageBytes() - 1); }
std::uint64_t PageUp(std::uint64_t address) { return PageDown(address + PageBytes() - 1); }
void* Pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }
std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// Frees the pages; they read as zero again. Uses MADV_REMOVE for a region that is a shared file (address_space.cc),
// because MADV_DONTNEED would leave the pages in the file.
void ReturnPages(std::uint64_t first, std::uint64_t bytes) {
  if (madvise(Pointer(first), bytes, MADV_REMOVE) != 0) madvise(Pointer(first), bytes, MADV_DONTNEED);
}

}  // namespace

void Contents::AddRegion(std::uint64_t base, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const int index = regions_.load();
  if (index == kMostRegions) return;
  region_base_[static_cast<std::size_t>(index)] = base;
  region_bytes_[static_cast<std::size_t>(index)] = bytes;
  regions_.store(index + 1, std::memory_order_release);
}

bool Contents::IsDeviceMemory(const void* address) const {
  const auto regions = static_cast<std::size_t>(regions_.load(std::memory_order_acquire));
  for (std::size_t i = 0; i < regions; ++i) {
    if (Address(address) - region_base_[i].load(std::memory_order_relaxed) <
        region_bytes_[i].load(std::memory_order_relaxed))
      return true;
  }
  return false;
}

std::vector<ByteRange> Contents::Regions() const {
  std::vector<ByteRange> all(static_cast<std::size_t>(regions_.load(std::memory_order_acquire)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {region_base_[i].load(), region_bytes_[i].load()};
  return all;
}

bool Contents::Copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || to == from) return true;
  const bool to_device = IsDeviceMemory(to), from_device = IsDeviceMemory(from);
  if (!to_device && !from_device) {
    std::memmove(to, from, bytes);
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (!to_device) return CopyToHost(to, Address(from), bytes);
  CopyToDevice(Address(to), from, bytes, from_device);
  return true;
}

bool Contents::CopyToHost(void* to, std::uint64_t from, std::size_t bytes) {
  const bool known = known_.Contains(from, bytes);
  if (!known && TakeAnswer(to, bytes)) return true;
  if (HasKeptBytes(from, bytes)) {
    std::memcpy(to, Pointer(from), bytes);
  } else {
    std::memset(to, 0, bytes);  // the same as reading the pages, without allocating them
  }
  return known;
}

void Contents::CopyToDevice(std::uint64_t to, const void* from, std::size_t bytes, bool from_device) {
  const bool known = !from_device || known_.Contains(Address(from), bytes);
  const bool zeros = from_device && !HasKeptBytes(Address(from), bytes);
  if (!zeros && bytes <= kLargestKept && Keep(to, bytes)) {
    std::memmove(Pointer(to), from, bytes);
    known_.Remove(to, bytes);
  } else {
    if (!zeros) dropped_copies_.fetch_add(1, std::memory_order_relaxed);
    MarkUnknownLocked(to, bytes);  // drops the old bytes; the new ones are zeros or are not kept
    if (!zeros) return;
  }
  if (known) known_.Add(to, bytes);
}

void Contents::Fill(void* to, int value, std::size_t bytes) {
  if (!IsDeviceMemory(to)) {
    std::memset(to, value, bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (value != 0 && bytes <= kLargestKept && Keep(Address(to), bytes)) {
    std::memset(to, value, bytes);
  } else {
    MarkUnknownLocked(Address(to), bytes);
    if (value != 0) {
      dropped_copies_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  known_.Add(Address(to), bytes);
}

bool Contents::MarkKnown(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!Keep(address, bytes)) return false;
  known_.Add(address, bytes);
  return true;
}

bool Contents::IsKnown(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return known_.Contains(address, bytes);
}

void Contents::MarkUnknown(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  MarkUnknownLocked(address, bytes);
}

std::uint64_t Contents::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

bool Contents::HasKeptBytes(std::uint64_t address, std::uint64_t bytes) const {
  auto pages = pages_.lower_bound(address + bytes);
  if (pages == pages_.begin()) return false;
  --pages;
  return pages->first + pages->second > address;
}

bool Contents::Keep(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t first = PageDown(address), end = PageUp(address + bytes);
  auto next = pages_.upper_bound(first);
  if (next != pages_.begin() && std::prev(next)->first + std::prev(next)->second >= first) --next;
  std::uint64_t merged = 0;
  auto last = next;
  std::uint64_t whole_first = first, whole_end = end;
  for (; last != pages_.end() && last->first <= end; ++last) {
    merged += last->second;
    whole_first = std::min(whole_first, last->first);
    whole_end = std::max(whole_end, last->first + last->second);
  }
  const std::uint64_t kept = kept_ - merged + (whole_end - whole_first);
  if (kept > most_kept_) return false;
  pages_.erase(next, last);
  pages_[whole_first] = whole_end - whole_first;
  kept_ = kept;
  return true;
}

void Contents::MarkUnknownLocked(std::uint64_t address, std::uint64_t bytes) {
  known_.Remove(address, bytes);
  const std::uint64_t end = address + bytes;
  const std::uint64_t first_whole = PageUp(address), end_whole = PageDown(end);
  if (first_whole >= end_whole) {
    ZeroPart(address, end);
    return;
  }
  ZeroPart(address, first_whole);
  DropPages(first_whole, end_whole);
  ZeroPart(end_whole, end);
}

// Zeroes the bytes [begin, end) of pages whose other bytes stay.
void Contents::ZeroPart(std::uint64_t begin, std::uint64_t end) {
  if (begin < end && HasKeptBytes(begin, end - begin)) std::memset(Pointer(begin), 0, end - begin);
}

void Contents::DropPages(std::uint64_t first, std::uint64_t end) {
  auto pages = pages_.upper_bound(first);
  if (pages != pages_.begin()) --pages;
  while (pages != pages_.end() && pages->first < end) {
    const std::uint64_t begin = pages->first, stop = begin + pages->second;
    if (stop <= first) {
      ++pages;
      continue;
    }
    pages = pages_.erase(pages);
    const std::uint64_t from = std::max(begin, first), to = std::min(stop, end);
    ReturnPages(from, to - from);
    kept_ -= to - from;
    if (begin < from) pages_[begin] = from - begin;
    if (to < stop) pages = std::next(pages_.emplace(to, stop - to).first);
  }
}

}  // namespace memoir::simcuda
