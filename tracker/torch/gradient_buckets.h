// The buckets in which DistributedDataParallel gathers gradients: tensors that its reducer holds in C++ alone. The
// thread has the GIL, and no other one runs backward or DistributedDataParallel's forward: there the reducer's lock is
// held while a hook in Python waits for the GIL, or while other ranks are waited for.
#ifndef TRACKER_TORCH_GRADIENT_BUCKETS_H_
#define TRACKER_TORCH_GRADIENT_BUCKETS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// The addresses of the bytes of a c10d::Reducer's buckets, `most` at the most; returns how many it wrote. 0 with a
// torch that was built without torch.distributed.
std::size_t BucketAddresses(const void* reducer, std::uint64_t* addresses, std::size_t most);

}  // namespace memoir

#endif  // TRACKER_TORCH_GRADIENT_BUCKETS_H_
