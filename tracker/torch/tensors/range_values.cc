#include "tracker/torch/tensors/range_values.h"

#include <ATen/SparseTensorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/autograd/variable.h>

#include <cstring>

namespace memoir {
namespace {

constexpr std::size_t PadTo4(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }
constexpr std::size_t PadTo8(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

std::uint8_t ListKind(const c10::IValue& list) {
  if (list.isTensorList() || list.isOptionalTensorList()) return 'L';
  if (list.isIntList() || list.isSymIntList()) return 'I';
  if (list.isDoubleList()) return 'D';
  if (list.isBoolList()) return 'B';
  const c10::ArrayRef<c10::IValue> elements = list.toListRef();
  if (!elements.empty() && elements[0].isString()) return 'S';
  return 'l';
}

std::uint8_t Kind(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().defined() ? 'T' : 'U';
  if (value.isNone()) return 'N';
  if (value.isInt() || value.isSymInt()) return 'i';
  if (value.isBool() || value.isSymBool()) return 'b';
  if (value.isDouble() || value.isSymFloat()) return 'd';
  if (value.isList()) return ListKind(value);
  if (value.isString()) return 's';
  if (value.isDevice()) return 'v';
  if (value.isComplexDouble()) return 'c';
  if (value.isGenerator()) return 'g';
  return 'o';
}

// Returns true if the sizes of the tensor can be recorded. Sparse, nested and opaque tensors have no sizes, or sizes
// with another meaning.
bool HasPlainShape(const c10::TensorImpl& impl) {
  constexpr auto kOddBackends = c10::DispatchKeySet({c10::DispatchKey::Sparse, c10::DispatchKey::SparseCsr,
                                                     c10::DispatchKey::NestedTensor, c10::DispatchKey::MkldnnCPU});
  return !impl.has_symbolic_sizes_strides() && !impl.key_set().has_any(kOddBackends) &&
         impl.sizes_default().size() <= kMaxDimensions;
}

// Returns a reference to the size of a storage. StorageImpl's own function returns a copy of the SymInt. If the size is
// symbolic, the copy runs Python code under the GIL, and the hooks would record events of this code in the middle of a
// half-written record. So this function reads the private member. C++ allows an explicit instantiation of a template to
// name private members.
const c10::SymInt& SizeOf(const c10::StorageImpl& storage);
template <c10::SymInt c10::StorageImpl::* member>
struct StorageSize {
  friend const c10::SymInt& SizeOf(const c10::StorageImpl& storage) { return storage.*member; }
};
template struct StorageSize<&c10::StorageImpl::size_bytes_>;

std::uint64_t AddressOf(c10::StorageImpl& storage) {
  return reinterpret_cast<std::uint64_t>(storage._mutable_data_ptr_no_checks().get());
}

void FillStorage(const c10::TensorImpl& impl, TensorRecord& record) {
  record.header.flags |= kHasStorage;
  c10::StorageImpl* storage = impl.unsafe_storage().unsafeGetStorageImpl();
  record.storage = AddressOf(*storage);
  const c10::SymInt& bytes = SizeOf(*storage);
  record.storage_bytes = bytes.is_heap_allocated() ? 0 : static_cast<std::uint64_t>(bytes.as_int_unchecked());
  record.device_type = static_cast<std::uint8_t>(storage->device_type());
  record.device_index = storage->device().index();
}

// Writes the sizes and strides of a tensor to `shape`, and returns how many numbers it has written. The strides of a
// contiguous tensor (row-major, without gaps) are not written. Dimensions of size 1 may have any stride, and an empty
// tensor counts as contiguous. Uses loops, because memcpy takes longer for a few numbers.
std::size_t FillShape(const c10::TensorImpl& impl, TensorRecord& record, std::int64_t* shape) {
  const c10::IntArrayRef sizes = impl.sizes_default();
  const std::int64_t* const strides = impl.strides_default().data();
  const std::size_t ndim = sizes.size();
  record.ndim = static_cast<std::uint8_t>(ndim);
  std::uint64_t expected = 1;  // unsigned, because it may overflow
  bool contiguous = true;
  for (std::size_t i = ndim; i-- > 0;) {
    const std::int64_t size = sizes.data()[i];
    shape[i] = size;
    contiguous = contiguous && (expected == 0 || size <= 1 || static_cast<std::uint64_t>(strides[i]) == expected);
    expected *= static_cast<std::uint64_t>(size);
  }
  if (contiguous) {
    record.header.flags |= kContiguous;
    return ndim;
  }
  for (std::size_t i = 0; i < ndim; ++i) shape[ndim + i] = strides[i];
  return ndim * 2;
}

// Returns the tensor's flag requires_grad_, which is set only on leaf tensors.
bool WantsGradient(const c10::TensorImpl& impl) {
  const auto* meta = static_cast<const torch::autograd::AutogradMeta*>(impl.autograd_meta());
  return meta != nullptr && meta->requires_grad_;
}

c10::TensorImpl* ImplOrNull(const c10::IValue& value) {
  if (!value.isTensor()) return nullptr;
  const at::Tensor& tensor = value.toTensor();
  return tensor.defined() ? tensor.unsafeGetTensorImpl() : nullptr;
}

// Always inlined, because AddTensors calls it for each tensor of a range.
[[gnu::always_inline]] inline void AddTensor(RingBatch& batch, std::uint16_t depth, const c10::TensorImpl* impl,
                                             std::uint8_t flags) {
  const bool shaped = impl != nullptr && HasPlainShape(*impl);
  const std::size_t most = sizeof(TensorRecord) + (shaped ? impl->sizes_default().size() * 16 : 0);
  std::uint8_t* place = batch.Reserve(most, OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) TensorRecord{};
  record->header.kind = RecordKind::kTensor;
  record->header.depth = depth;
  record->header.flags = flags;
  std::size_t words = sizeof(TensorRecord) / 8;
  if (impl != nullptr) {
    record->impl = reinterpret_cast<std::uint64_t>(impl);
    record->dtype = static_cast<std::uint8_t>(c10::typeMetaToScalarType(impl->dtype()));
    record->device_index = -1;
    if (WantsGradient(*impl)) record->header.flags |= kWantsGradient;
    if (impl->has_storage()) FillStorage(*impl, *record);
    if (shaped) {
      words += FillShape(*impl, *record, reinterpret_cast<std::int64_t*>(record + 1));
    } else {
      record->header.flags |= kShapeUnknown;
    }
  }
  record->header.words = static_cast<std::uint16_t>(words);
  batch.Add(words * 8);
}

}  // namespace

std::uint64_t StorageAddress(const c10::TensorImpl& impl) {
  return impl.has_storage() ? AddressOf(*impl.unsafe_storage().unsafeGetStorageImpl()) : 0;
}

const c10::TensorImpl* SparseValues(const c10::TensorImpl& impl) {
  if (!impl.key_set().has_any(c10::DispatchKeySet({c10::DispatchKey::Sparse}))) return nullptr;
  // values() returns a temporary object that refers to the values. The sparse tensor keeps the values alive.
  return static_cast<const at::SparseTensorImpl&>(impl).values().unsafeGetTensorImpl();
}

void RecordTensor(ThreadSlot* slot, const c10::TensorImpl* impl, std::uint8_t flags) {
  RingBatch batch(slot);
  AddTensor(batch, RingDepth(slot), impl, flags);
}

std::size_t ValueKinds::RecordBytes() const { return PadTo8(PadTo4(count) + lists * sizeof(std::uint32_t)); }

void ValueKinds::Write(std::uint8_t* place) const {
  // Copies four kinds at a time. Both `kinds` and the record have room for a number of kinds that is a multiple of 4.
  for (std::size_t i = 0; i < count; i += 4) std::memcpy(place + i, kinds + i, 4);
  for (std::size_t i = 0; i < lists; ++i) std::memcpy(place + PadTo4(count) + i * 4, list_lengths + i, 4);
}

void FindKinds(c10::ArrayRef<const c10::IValue> values, ValueKinds& found) {
  for (const c10::IValue& value : values) {
    if (found.count == kMaxArguments) return;
    const std::uint8_t kind = Kind(value);
    if (kind == 'L') {
      if (found.lists == kMaxLists) return;
      const auto length = static_cast<std::uint32_t>(value.toListRef().size());
      found.list_lengths[found.lists++] = length;
      found.tensors += length;
    }
    if (kind == 'T') ++found.tensors;
    found.kinds[found.count++] = kind;
  }
}

void AddTensors(RingBatch& batch, std::uint16_t depth, c10::ArrayRef<const c10::IValue> values,
                const ValueKinds& kinds) {
  if (kinds.tensors == 0) return;
  for (std::size_t i = 0; i < kinds.count; ++i) {
    if (kinds.kinds[i] == 'T') AddTensor(batch, depth, values[i].toTensor().unsafeGetTensorImpl(), 0);
    if (kinds.kinds[i] != 'L') continue;
    for (const c10::IValue& element : values[i].toListRef()) AddTensor(batch, depth, ImplOrNull(element), 0);
  }
}

}  // namespace memoir
