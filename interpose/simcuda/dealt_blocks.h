// The blocks that the program's own allocator deals out of the memory that CUDA gave it: an address that a kernel is
// handed means one of these.
//
// Any thread; one lock.
#ifndef INTERPOSE_SIMCUDA_DEALT_BLOCKS_H_
#define INTERPOSE_SIMCUDA_DEALT_BLOCKS_H_

#include <cstdint>
#include <map>

#include "interpose/simcuda/byte_ranges.h"
#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {

class DealtBlocks {
 public:
  // A new one; those that it overlaps are gone. That a block is given back need not be told.
  void Add(std::uint64_t address, std::uint64_t bytes);

  // The block around `address`. Where none is known, what of `within`, which holds the address, lies between the
  // neighbours.
  ByteRange Around(std::uint64_t address, ByteRange within) const;

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> blocks_;  // first -> end; disjoint
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_DEALT_BLOCKS_H_
