#include "tracker/torch/saved_tensors.h"

#include <torch/csrc/autograd/saved_variable.h>

#include "tracker/torch/storage_address.h"

namespace memoir {
namespace {

// SavedVariable::unpack runs its hooks, which may move a tensor back from where they put it. So its member is read,
// which torch keeps private.
using torch::autograd::SavedVariable;
using Data = at::Tensor SavedVariable::*;

Data DataMember();

// An explicit instantiation may name what is private.
template <Data kMember>
struct PrivateMember {
  friend Data DataMember() { return kMember; }
};
template struct PrivateMember<&SavedVariable::data_>;

}  // namespace

std::uint64_t SavedAddress(const void* saved) {
  if (saved == nullptr) return 0;
  try {
    return StorageAddress(static_cast<const SavedVariable*>(saved)->*DataMember());
  } catch (...) {  // a tensor without bytes
    return 0;
  }
}

}  // namespace memoir
