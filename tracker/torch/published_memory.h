// What a tool has been told of one device: a heap for each segment, a region for each block (nvtx_memory.h). What the
// allocator maps side by side of an expandable segment is one heap, as a snapshot of the allocator shows it: where it
// grows or is cut, its heap is registered anew, with its regions.
//
// Zeroed memory is an empty one. Under the allocator's lock of the device: nothing here allocates, locks or waits.
#ifndef TRACKER_TORCH_PUBLISHED_MEMORY_H_
#define TRACKER_TORCH_PUBLISHED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "tracker/torch/nvtx_memory.h"

namespace memoir {

class PublishedMemory {
 public:
  static constexpr std::size_t kMostHeaps = 16'384;
  static constexpr std::size_t kMostRegions = 65'536;

  void AddSegment(AddressRange segment) { AddHeap(segment, false, 0); }
  // A part of an expandable segment, which may lie beside others.
  void MapSegment(AddressRange part);
  void RemoveSegment(AddressRange segment) { Cut(segment); }
  void UnmapSegment(AddressRange part) { Cut(part); }
  void AddBlock(AddressRange block);
  void RemoveBlock(std::uint64_t address);

  // Nothing is published any more: the tool is told, or only this forgets.
  void Withdraw();
  void Forget();

  // Blocks that were not published: more than kMostRegions, or in a heap that the tool refused or that found no room.
  std::uint64_t unpublished() const { return unpublished_; }

 private:
  struct Heap {
    std::uint64_t begin, end;
    HeapHandle handle;
    std::uint32_t regions;
    bool grows;
  };

  // Where the first heap is that ends behind `address`.
  std::size_t HeapBehind(std::uint64_t address) const;
  Heap* HeapOf(AddressRange block);
  void AddHeap(AddressRange heap, bool grows, std::uint32_t regions);
  void RemoveHeap(std::size_t at);
  void Cut(AddressRange range);
  void RegisterRegionsIn(Heap& heap);
  void ForgetRegionsIn(AddressRange range);

  static std::size_t Home(std::uint64_t address);
  std::size_t Find(std::uint64_t address) const;
  void Erase(std::size_t at);

  static constexpr std::size_t kPlaces = 2 * kMostRegions;  // of the table of regions: open addressing, by address
  Heap heaps_[kMostHeaps];                                  // by address
  std::size_t heap_count_;
  AddressRange regions_[kPlaces];
  std::size_t region_count_;
  std::uint64_t unpublished_;
};

}  // namespace memoir

#endif  // TRACKER_TORCH_PUBLISHED_MEMORY_H_
