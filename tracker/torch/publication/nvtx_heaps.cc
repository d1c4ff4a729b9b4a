#include "tracker/torch/publication/nvtx_heaps.h"

#include <algorithm>
#include <utility>

namespace memoir {

std::size_t NvtxHeaps::HeapBehind(std::uint64_t address) const {
  const Heap* const end = heaps_ + heap_count_;
  const auto ends_before = [](const Heap& heap, std::uint64_t at) { return heap.end <= at; };
  return static_cast<std::size_t>(std::lower_bound(heaps_, end, address, ends_before) - heaps_);
}

NvtxHeaps::Heap* NvtxHeaps::HeapOf(AddressRange block) {
  const std::size_t at = HeapBehind(block.address);
  if (at == heap_count_ || heaps_[at].begin > block.address || heaps_[at].end < block.end()) return nullptr;
  return &heaps_[at];
}

// Registers a heap. `regions`: number of regions in the table that lie inside of the heap. They are registered again,
// because the tool forgot them when their previous heap was unregistered.
void NvtxHeaps::AddHeap(AddressRange heap, bool grows, std::uint32_t regions) {
  HeapHandle handle = heap_count_ < kMostHeaps ? RegisterHeap(heap) : nullptr;
  if (handle == nullptr && regions > 0) ForgetRegionsIn(heap);
  if (heap_count_ == kMostHeaps) return;
  const std::size_t at = HeapBehind(heap.address);
  std::move_backward(heaps_ + at, heaps_ + heap_count_, heaps_ + heap_count_ + 1);
  ++heap_count_;
  heaps_[at] = {heap.address, heap.end(), handle, 0, grows};
  if (handle != nullptr && regions > 0) RegisterRegionsIn(heaps_[at]);
}

// Unregisters a heap. Its regions stay in the table for the heap that replaces it.
void NvtxHeaps::RemoveHeap(std::size_t at) {
  if (heaps_[at].handle != nullptr) UnregisterHeap(heaps_[at].handle);
  std::move(heaps_ + at + 1, heaps_ + heap_count_, heaps_ + at);
  --heap_count_;
}

void NvtxHeaps::MapSegment(AddressRange part) {
  std::uint64_t begin = part.address, end = part.end();
  std::uint32_t regions = 0;
  const std::size_t at = HeapBehind(part.address);
  if (at < heap_count_ && heaps_[at].grows && heaps_[at].begin == end) {
    end = heaps_[at].end;
    regions += heaps_[at].regions;
    RemoveHeap(at);
  }
  if (at > 0 && heaps_[at - 1].grows && heaps_[at - 1].end == begin) {
    begin = heaps_[at - 1].begin;
    regions += heaps_[at - 1].regions;
    RemoveHeap(at - 1);
  }
  AddHeap({begin, end - begin}, true, regions);
}

void NvtxHeaps::Cut(AddressRange range) {
  for (std::size_t at = HeapBehind(range.address); at < heap_count_ && heaps_[at].begin < range.end();) {
    const Heap heap = heaps_[at];
    RemoveHeap(at);
    if (heap.regions > 0) ForgetRegionsIn(range);
    if (heap.begin < range.address) AddHeap({heap.begin, range.address - heap.begin}, heap.grows, heap.regions);
    if (heap.end > range.end()) AddHeap({range.end(), heap.end - range.end()}, heap.grows, heap.regions);
    at = HeapBehind(range.address);
  }
}

void NvtxHeaps::AddBlock(AddressRange block) {
  Heap* const heap = HeapOf(block);
  const std::size_t place = Find(block.address);
  const bool known = regions_[place].bytes != 0;
  if (heap == nullptr || heap->handle == nullptr || known || region_count_ == kMostRegions) {
    ++unpublished_;
    return;
  }
  regions_[place] = block;
  ++region_count_;
  ++heap->regions;
  RegisterRegions(heap->handle, &block, 1);
}

void NvtxHeaps::RemoveBlock(std::uint64_t address) {
  const std::size_t place = Find(address);
  const AddressRange block = regions_[place];
  if (block.bytes == 0) return;
  UnregisterRegion(address);
  Erase(place);
  if (Heap* const heap = HeapOf(block); heap != nullptr) --heap->regions;
}

void NvtxHeaps::Withdraw() {
  for (std::size_t i = 0; i < heap_count_; ++i) {
    if (heaps_[i].handle != nullptr) UnregisterHeap(heaps_[i].handle);
  }
  Forget();
}

void NvtxHeaps::Forget() {
  heap_count_ = 0;
  if (region_count_ == 0) return;
  for (AddressRange& region : regions_) {
    if (region.bytes != 0) region = {};  // writing to an empty entry would allocate a page that is not in use yet
  }
  region_count_ = 0;
}

void NvtxHeaps::RegisterRegionsIn(Heap& heap) {
  constexpr std::size_t kBatch = 64;
  AddressRange batch[kBatch];
  std::size_t count = 0;
  for (std::size_t i = 0; i < kPlaces && region_count_ > 0; ++i) {
    if (regions_[i].bytes == 0 || regions_[i].address < heap.begin || regions_[i].end() > heap.end) continue;
    batch[count++] = regions_[i];
    ++heap.regions;
    if (count == kBatch) RegisterRegions(heap.handle, batch, std::exchange(count, 0));
  }
  if (count > 0) RegisterRegions(heap.handle, batch, count);
}

void NvtxHeaps::ForgetRegionsIn(AddressRange range) {
  for (std::size_t i = 0; i < kPlaces && region_count_ > 0;) {
    const bool inside =
        regions_[i].bytes != 0 && regions_[i].address < range.end() && regions_[i].end() > range.address;
    if (!inside) {
      ++i;
      continue;
    }
    Erase(i);  // looks at index i again, because Erase may have moved another region there
  }
}

// Returns the index where the search for a region begins. The lowest 9 bits of addresses are ignored, because blocks
// lie at multiples of 512 bytes.
std::size_t NvtxHeaps::Home(std::uint64_t address) {
  static_assert((kPlaces & (kPlaces - 1)) == 0);
  return ((address >> 9) * 0x9e3779b97f4a7c15u >> 32) % kPlaces;
}

// Returns the index of the region, or the free index where it would be stored.
std::size_t NvtxHeaps::Find(std::uint64_t address) const {
  std::size_t at = Home(address);
  while (regions_[at].bytes != 0 && regions_[at].address != address) at = (at + 1) % kPlaces;
  return at;
}

// Removes an entry. Moves later entries into the hole if a search would stop at the hole and not find them.
void NvtxHeaps::Erase(std::size_t at) {
  --region_count_;
  std::size_t hole = at;
  for (std::size_t next = (hole + 1) % kPlaces; regions_[next].bytes != 0; next = (next + 1) % kPlaces) {
    const std::size_t from_home = (next - Home(regions_[next].address)) % kPlaces;
    const std::size_t from_hole = (next - hole) % kPlaces;
    if (from_home < from_hole) continue;
    regions_[hole] = regions_[next];
    hole = next;
  }
  regions_[hole] = {};
}

}  // namespace memoir
