#include "tracker/modules/named_tensors.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <numeric>

#include "interpose/ring/ring.h"
#include "tracker/torch/tensors/holds_record.h"
#include "tracker/torch/tensors/node_mutex.h"
#include "tracker/torch/tensors/range_values.h"
#include "tracker/torch/torch_versions.h"

// Implements tracker/modules/named_tensors.h: records the tensors that modules and optimizers hold.
namespace memoir {
namespace {

using NodePointer = decltype(torch::autograd::get_current_node());  // its type depends on the version of torch

// The gradient of a parameter. While this object exists, autograd cannot replace the gradient.
class SteadyGradient {
 public:
  explicit SteadyGradient(const c10::TensorImpl& parameter) {
    auto* meta = static_cast<torch::autograd::AutogradMeta*>(parameter.autograd_meta());
    if (meta == nullptr || !meta->grad_.defined()) return;
    {
      const std::lock_guard<std::mutex> lock(meta->mutex_);
      accumulator_ = meta->grad_accumulator_.lock();
    }
    if (accumulator_ != nullptr) {
      lock_ = std::unique_lock<std::mutex>(NodeMutex::Of(*accumulator_), std::try_to_lock);
      if (!lock_.owns_lock()) return;  // another thread is replacing the gradient
    }
    if (meta->grad_.defined()) impl_ = meta->grad_.unsafeGetTensorImpl();
  }
  const c10::TensorImpl* get() const { return impl_; }  // nullptr: there is no gradient, or it cannot be read now

 private:
  NodePointer accumulator_;
  // Declared after accumulator_, so it is destroyed before the node, which contains the mutex.
  std::unique_lock<std::mutex> lock_;
  const c10::TensorImpl* impl_ = nullptr;
};

const c10::TensorImpl* Impl(const void* address) { return static_cast<const c10::TensorImpl*>(address); }

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

// Records a tensor that a module or an optimizer holds. If another tensor contains the data of `impl`, records that
// other tensor: the values of a sparse tensor, or the local tensor of a DTensor.
void RecordHeld(ThreadSlot* slot, const c10::TensorImpl* impl, std::uint8_t flags = 0) {
  if (impl == nullptr) return RecordTensor(slot, impl);
  if (const c10::TensorImpl* values = SparseValues(*impl)) return RecordTensor(slot, values, kUnlisted);
  void* object = PythonObjectOf(*impl);
  if (object == nullptr || IsPlainTensor(object)) return RecordTensor(slot, impl, flags);
  const void* local = StorageAddress(*impl) == 0 ? LocalImpl(object) : nullptr;
  RecordTensor(slot, local == nullptr ? impl : Impl(local), kUnlisted);
}

void RecordParametersAndGradients(ThreadSlot* slot, const void* const* parameters, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) RecordHeld(slot, Impl(parameters[i]));
  for (std::size_t i = 0; i < count; ++i) RecordHeld(slot, SteadyGradient(*Impl(parameters[i])).get());
}

}  // namespace

std::uint32_t FingerprintParameters(const void* const* parameters, std::size_t count) {
  std::uint64_t hash = count + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const c10::TensorImpl& parameter = *Impl(parameters[i]);
    hash = Mix(Mix(hash, reinterpret_cast<std::uint64_t>(&parameter)), StorageAddress(parameter));
    const SteadyGradient gradient(parameter);
    if (gradient.get() == nullptr) continue;
    hash = Mix(Mix(hash, reinterpret_cast<std::uint64_t>(gradient.get())), StorageAddress(*gradient.get()));
  }
  return static_cast<std::uint32_t>(hash) & 0x7fffffffu;
}

void RecordModuleHolds(std::uint32_t module, const NamedTensors& parameters, const NamedTensors& buffers, bool more) {
  static_assert(sizeof(HoldsRecord) + 16 + 2 * NamedTensors::kNameBytes <= kMaxRecordBytes);
  ThreadSlot* slot = RangeEpoch() == 0 ? nullptr : RingThread();
  if (slot == nullptr) return;
  const auto length = static_cast<std::uint32_t>(parameters.count);
  const std::uint32_t lengths[] = {length, length, static_cast<std::uint32_t>(buffers.count)};
  const HoldingLists lists{.holder = more ? HolderKind::kMore : HolderKind::kModule,
                           .owner = module,
                           .lengths = lengths,
                           .count = std::size(lengths),
                           .parameter_names = {parameters.names, parameters.name_bytes},
                           .buffer_names = {buffers.names, buffers.name_bytes}};
  if (!RecordLists(slot, lists)) return;
  RecordParametersAndGradients(slot, parameters.impls, parameters.count);
  for (std::size_t i = 0; i < buffers.count; ++i) RecordHeld(slot, Impl(buffers.impls[i]));
}

void RecordOptimizerHolds(std::uint64_t optimizer, const void* const* parameters, std::size_t count,
                          const void* const* state, const std::uint32_t* state_counts, bool more) {
  ThreadSlot* slot = RangeEpoch() == 0 ? nullptr : RingThread();
  if (slot == nullptr) return;
  std::uint32_t lengths[kMaxLists];
  lengths[0] = lengths[1] = static_cast<std::uint32_t>(count);
  std::copy_n(state_counts, count, lengths + 2);
  const HoldingLists lists{.holder = more ? HolderKind::kMore : HolderKind::kOptimizer,
                           .owner = optimizer,
                           .lengths = lengths,
                           .count = 2 + count};
  if (!RecordLists(slot, lists)) return;
  RecordParametersAndGradients(slot, parameters, count);
  const std::uint32_t states = std::accumulate(state_counts, state_counts + count, 0u);
  for (std::uint32_t i = 0; i < states; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(state[i]);
    const auto* impl = reinterpret_cast<const c10::TensorImpl*>(address & ~std::uintptr_t{1});
    RecordHeld(slot, impl, (address & 1) != 0 ? kUnlisted : 0);
  }
}

}  // namespace memoir
