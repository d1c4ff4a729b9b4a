#include "tracker/torch/tensors/gradient_buckets.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "tracker/torch/tensors/storage_address.h"

// Weak, because the tracker must also load with a torch without torch.distributed, which has no
// Reducer::get_grad_buckets.
extern "C" __attribute__((weak)) const char memoir_get_grad_buckets __asm__("_ZNK4c10d7Reducer16get_grad_bucketsEb");

namespace memoir {

std::size_t BucketAddresses(const void* reducer, std::uint64_t* addresses, std::size_t most) {
  if (reducer == nullptr || &memoir_get_grad_buckets == nullptr) return 0;
  std::size_t count = 0;
  try {
    for (const c10d::GradBucket& bucket : static_cast<const c10d::Reducer*>(reducer)->get_grad_buckets(false)) {
      if (count == most) break;
      if (const std::uint64_t address = StorageAddress(bucket.getBuffer()); address != 0) addresses[count++] = address;
    }
  } catch (...) {  // the buckets found until now are returned
  }
  return count;
}

}  // namespace memoir
