// Finds the buckets in which DistributedDataParallel gathers gradients: tensors that only its reducer in C++ holds. The
// calling thread must hold the GIL. No other thread may run backward or DistributedDataParallel's forward at the same
// time. Such a thread may hold the reducer's lock while it waits for the GIL or for other ranks, and BucketAddresses
// would wait for this lock.
#ifndef TRACKER_TORCH_TENSORS_GRADIENT_BUCKETS_H_
#define TRACKER_TORCH_TENSORS_GRADIENT_BUCKETS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// Writes the storage addresses of the buckets of `reducer`, a c10d::Reducer, into `addresses`, which has room for
// `most`. Returns the number of addresses; 0 if torch was built without torch.distributed.
std::size_t BucketAddresses(const void* reducer, std::uint64_t* addresses, std::size_t most);

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_GRADIENT_BUCKETS_H_
