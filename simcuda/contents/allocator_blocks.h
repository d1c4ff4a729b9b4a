// The blocks that the program's own allocator (such as torch's) returns from memory that CUDA allocated. A kernel that
// receives an address may write to the whole block around this address.
//
// Any thread; one lock.
#ifndef SIMCUDA_CONTENTS_ALLOCATOR_BLOCKS_H_
#define SIMCUDA_CONTENTS_ALLOCATOR_BLOCKS_H_

#include <cstdint>
#include <map>

#include "simcuda/contents/byte_ranges.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

class AllocatorBlocks {
 public:
  // Adds a block, and removes blocks that it overlaps. So callers need not report that a block was freed.
  void Add(std::uint64_t address, std::uint64_t bytes);

  // Returns the block around `address`. If no block is known there, returns the largest part of `within` around
  // `address` that no known block overlaps. `within` must contain `address`.
  ByteRange FindAround(std::uint64_t address, ByteRange within) const;

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> blocks_;  // first -> end; disjoint
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONTENTS_ALLOCATOR_BLOCKS_H_
