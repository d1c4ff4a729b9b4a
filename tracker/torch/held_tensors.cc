#include "tracker/modules/held_tensors.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <cstring>
#include <mutex>

#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tracker/torch/range_values.h"

namespace memoir {
namespace {

constexpr std::size_t PadTo8(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

// torch::autograd::AccumulateGrad replaces a gradient under a mutex that torch keeps to its nodes.
struct NodeMutex : torch::autograd::Node {
  static std::mutex& Of(torch::autograd::Node& node) { return node.*(&NodeMutex::mutex_); }
};

using NodePointer = decltype(torch::autograd::get_current_node());  // its kind changes with torch's version

// The gradient of a parameter, kept from being replaced by autograd as long as this lives.
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
      if (!lock_.owns_lock()) return;  // another thread is at it
    }
    if (meta->grad_.defined()) impl_ = meta->grad_.unsafeGetTensorImpl();
  }
  const c10::TensorImpl* get() const { return impl_; }  // nullptr: none, or not to be had now

 private:
  NodePointer accumulator_;
  std::unique_lock<std::mutex> lock_;  // destroyed before what it is in
  const c10::TensorImpl* impl_ = nullptr;
};

const c10::TensorImpl* Impl(const void* address) { return static_cast<const c10::TensorImpl*>(address); }

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

// Lists of tensors, as an operator's arguments are recorded.
struct Lists {
  HolderKind holder;
  std::uint64_t owner;
  std::uint32_t lengths[3];
  std::uint16_t count;
};

bool RecordLists(ThreadSlot* slot, const Lists& lists) {
  const std::size_t bytes = sizeof(HoldsRecord) + PadTo8(4 + lists.count * sizeof(std::uint32_t));
  std::uint8_t* place = RingReserve(slot, bytes, OnEmptyPool::kWait);
  if (place == nullptr) return false;
  auto* record = new (place) HoldsRecord{};
  record->header.words = static_cast<std::uint16_t>(bytes / 8);
  record->header.kind = RecordKind::kHolds;
  record->header.flags = static_cast<std::uint8_t>(lists.holder);
  record->header.depth = RingDepth(slot);
  record->header.count = lists.count;
  record->tick = Tick();
  record->owner = lists.owner;
  record->list_count = lists.count;
  std::memset(record + 1, 'L', 4);
  for (std::size_t i = 0; i < lists.count; ++i) record->tensor_count += lists.lengths[i];
  std::memcpy(reinterpret_cast<std::uint8_t*>(record + 1) + 4, lists.lengths, lists.count * sizeof(std::uint32_t));
  RingCommit(slot, bytes);
  return true;
}

void RecordParametersAndGradients(ThreadSlot* slot, const void* const* parameters, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) RecordTensor(slot, Impl(parameters[i]));
  for (std::size_t i = 0; i < count; ++i) RecordTensor(slot, SteadyGradient(*Impl(parameters[i])).get());
}

}  // namespace

std::uint32_t FingerprintHeld(const void* const* parameters, std::size_t count) {
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

void RecordModuleHolds(std::uint32_t module, const void* const* parameters, std::size_t count, bool more) {
  ThreadSlot* slot = RangeEpoch() == 0 ? nullptr : RingThread();
  if (slot == nullptr) return;
  const auto length = static_cast<std::uint32_t>(count);
  const Lists lists{more ? HolderKind::kMore : HolderKind::kModule, module, {length, length, 0}, 2};
  if (RecordLists(slot, lists)) RecordParametersAndGradients(slot, parameters, count);
}

void RecordOptimizerHolds(std::uint64_t optimizer, const void* const* parameters, std::size_t count,
                          const void* const* state, std::size_t states, bool more) {
  ThreadSlot* slot = RangeEpoch() == 0 ? nullptr : RingThread();
  if (slot == nullptr) return;
  const auto length = static_cast<std::uint32_t>(count);
  const Lists lists{more ? HolderKind::kMore : HolderKind::kOptimizer,
                    optimizer,
                    {length, length, static_cast<std::uint32_t>(states)},
                    3};
  if (!RecordLists(slot, lists)) return;
  RecordParametersAndGradients(slot, parameters, count);
  for (std::size_t i = 0; i < states; ++i) RecordTensor(slot, Impl(state[i]));
}

}  // namespace memoir
