#include "tracker/torch/range_values.h"

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

// A row-major tensor without gaps. Dimensions of size 1 may have any stride; an empty tensor counts as contiguous.
bool IsContiguous(c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

// Sparse, nested and opaque tensors have sizes that mean something else, or none.
bool HasPlainShape(const c10::TensorImpl& impl) {
  constexpr auto kOddBackends = c10::DispatchKeySet({c10::DispatchKey::Sparse, c10::DispatchKey::SparseCsr,
                                                     c10::DispatchKey::NestedTensor, c10::DispatchKey::MkldnnCPU});
  return !impl.has_symbolic_sizes_strides() && !impl.key_set().has_any(kOddBackends) &&
         impl.sizes_default().size() <= kMaxDimensions;
}

// StorageImpl gives its size by value alone, and a copy of a symbolic size asks its Python object whether it is an
// integer: that takes the GIL, and what Python does there would be recorded into the middle of a record that is half
// written. An explicit instantiation may name the member.
const c10::SymInt& SizeOf(const c10::StorageImpl& storage);
template <c10::SymInt c10::StorageImpl::*member>
struct StorageSize {
  friend const c10::SymInt& SizeOf(const c10::StorageImpl& storage) { return storage.*member; }
};
template struct StorageSize<&c10::StorageImpl::size_bytes_>;

void FillStorage(const c10::TensorImpl& impl, TensorRecord& record) {
  record.header.flags |= kHasStorage;
  c10::StorageImpl* storage = impl.unsafe_storage().unsafeGetStorageImpl();
  record.storage = StorageAddress(impl);
  const c10::SymInt& bytes = SizeOf(*storage);
  record.storage_bytes = bytes.is_heap_allocated() ? 0 : static_cast<std::uint64_t>(bytes.as_int_unchecked());
  record.device_type = static_cast<std::uint8_t>(storage->device_type());
  record.device_index = storage->device().index();
}

std::size_t FillShape(const c10::TensorImpl& impl, TensorRecord& record, std::int64_t* shape) {
  const c10::IntArrayRef sizes = impl.sizes_default();
  const c10::IntArrayRef strides = impl.strides_default();
  record.ndim = static_cast<std::uint8_t>(sizes.size());
  std::memcpy(shape, sizes.data(), sizes.size() * sizeof(std::int64_t));
  if (IsContiguous(sizes, strides)) {
    record.header.flags |= kContiguous;
    return sizes.size();
  }
  std::memcpy(shape + sizes.size(), strides.data(), strides.size() * sizeof(std::int64_t));
  return sizes.size() * 2;
}

// Set on leaves alone. The operator that the tensor is given to reads it, too.
bool WantsGradient(const c10::TensorImpl& impl) {
  const auto* meta = static_cast<const torch::autograd::AutogradMeta*>(impl.autograd_meta());
  return meta != nullptr && meta->requires_grad_;
}

c10::TensorImpl* ImplOrNull(const c10::IValue& value) {
  if (!value.isTensor()) return nullptr;
  const at::Tensor& tensor = value.toTensor();
  return tensor.defined() ? tensor.unsafeGetTensorImpl() : nullptr;
}

}  // namespace

std::uint64_t StorageAddress(const c10::TensorImpl& impl) {
  if (!impl.has_storage()) return 0;
  c10::StorageImpl* storage = impl.unsafe_storage().unsafeGetStorageImpl();
  return reinterpret_cast<std::uint64_t>(storage->_mutable_data_ptr_no_checks().get());
}

const c10::TensorImpl* SparseValues(const c10::TensorImpl& impl) {
  if (!impl.key_set().has_any(c10::DispatchKeySet({c10::DispatchKey::Sparse}))) return nullptr;
  // Kept by the sparse tensor beyond the reference that is given here.
  return static_cast<const at::SparseTensorImpl&>(impl).values().unsafeGetTensorImpl();
}

void RecordTensor(ThreadSlot* slot, const c10::TensorImpl* impl, std::uint8_t flags) {
  const bool shaped = impl != nullptr && HasPlainShape(*impl);
  const std::size_t most = sizeof(TensorRecord) + (shaped ? impl->sizes_default().size() * 16 : 0);
  std::uint8_t* place = RingReserve(slot, most, OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) TensorRecord{};
  record->header.kind = RecordKind::kTensor;
  record->header.depth = RingDepth(slot);
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
  RingCommit(slot, words * 8);
}

std::size_t ValueKinds::RecordBytes() const { return PadTo8(PadTo4(count) + lists * sizeof(std::uint32_t)); }

void ValueKinds::Write(std::uint8_t* place) const {
  std::memcpy(place, kinds, count);
  std::memcpy(place + PadTo4(count), list_lengths, lists * sizeof(std::uint32_t));
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

void RecordTensors(ThreadSlot* slot, c10::ArrayRef<const c10::IValue> values, const ValueKinds& kinds) {
  for (std::size_t i = 0; i < kinds.count; ++i) {
    if (kinds.kinds[i] == 'T') RecordTensor(slot, values[i].toTensor().unsafeGetTensorImpl());
    if (kinds.kinds[i] != 'L') continue;
    for (const c10::IValue& element : values[i].toListRef()) RecordTensor(slot, ImplOrNull(element));
  }
}

}  // namespace memoir
