#include "tracker/torch/tensors/saved_tensor_address.h"

#include <torch/csrc/autograd/saved_variable.h>

#include "tracker/torch/tensors/storage_address.h"

namespace memoir {
namespace {

// SavedVariable::unpack would run the hooks of the SavedVariable, which may load a tensor that they have moved
// elsewhere. So this code reads the private member data_ instead.
using torch::autograd::SavedVariable;
using Data = at::Tensor SavedVariable::*;

Data DataMember();

// C++ allows an explicit instantiation of a template to name private members.
template <Data kMember>
struct PrivateMember {
  friend Data DataMember() { return kMember; }
};
template struct PrivateMember<&SavedVariable::data_>;

}  // namespace

std::uint64_t SavedTensorAddress(const void* saved) {
  if (saved == nullptr) return 0;
  try {
    return StorageAddress(static_cast<const SavedVariable*>(saved)->*DataMember());
  } catch (...) {  // the tensor has no bytes
    return 0;
  }
}

}  // namespace memoir
