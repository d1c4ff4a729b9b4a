// The NVTX heaps and regions with which the memory of one device is published: a heap for each segment, a region for
// each block (nvtx_memory.h). Adjacent mapped parts of an expandable segment are one heap, as in a snapshot of the
// allocator. If such a heap grows or shrinks, it is registered again, with its regions.
//
// An object in zeroed memory is valid and empty. Called under the allocator's lock of the device, so no function here
// allocates, takes a lock or waits.
#ifndef TRACKER_TORCH_PUBLICATION_NVTX_HEAPS_H_
#define TRACKER_TORCH_PUBLICATION_NVTX_HEAPS_H_

#include <cstddef>
#include <cstdint>

#include "tracker/torch/publication/nvtx_memory.h"

namespace memoir {

class NvtxHeaps {
 public:
  static constexpr std::size_t kMostHeaps = 16'384;
  static constexpr std::size_t kMostRegions = 65'536;

  void AddSegment(AddressRange segment) { AddHeap(segment, false, 0); }
  // Adds a mapped part of an expandable segment, and joins it with adjacent parts.
  void MapSegment(AddressRange part);
  void RemoveSegment(AddressRange segment) { Cut(segment); }
  void UnmapSegment(AddressRange part) { Cut(part); }
  void AddBlock(AddressRange block);
  void RemoveBlock(std::uint64_t address);

  // Withdraw unregisters all heaps and regions from the tool, and empties this object. Forget only empties this object.
  void Withdraw();
  void Forget();

  // Number of blocks that were not published, for example because the table of regions or of heaps was full, or because
  // the tool had refused the heap.
  std::uint64_t unpublished() const { return unpublished_; }

 private:
  struct Heap {
    std::uint64_t begin, end;
    HeapHandle handle;
    std::uint32_t regions;  // number of regions in this heap
    bool grows;             // true: the heap consists of mapped parts of an expandable segment
  };

  // Returns the index of the first heap that ends after `address`.
  std::size_t HeapBehind(std::uint64_t address) const;
  // Returns the heap that contains the block; nullptr if there is no such heap.
  Heap* HeapOf(AddressRange block);
  void AddHeap(AddressRange heap, bool grows, std::uint32_t regions);
  void RemoveHeap(std::size_t at);
  // Removes the range from all heaps, and the regions in it. A heap that is only partly inside keeps its other part.
  void Cut(AddressRange range);
  // Registers all regions of the table that lie in the heap.
  void RegisterRegionsIn(Heap& heap);
  // Removes the regions that overlap the range from the table, without calling the tool.
  void ForgetRegionsIn(AddressRange range);

  static std::size_t Home(std::uint64_t address);
  std::size_t Find(std::uint64_t address) const;
  void Erase(std::size_t at);

  // Number of slots of the table of regions. The table uses open addressing; its key is the address.
  static constexpr std::size_t kPlaces = 2 * kMostRegions;
  Heap heaps_[kMostHeaps];  // sorted by address
  std::size_t heap_count_;
  AddressRange regions_[kPlaces];
  std::size_t region_count_;
  std::uint64_t unpublished_;
};

}  // namespace memoir

#endif  // TRACKER_TORCH_PUBLICATION_NVTX_HEAPS_H_
