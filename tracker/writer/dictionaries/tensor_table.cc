#include "tracker/writer/dictionaries/tensor_table.h"

#include <algorithm>
#include <cstring>

#include "tracker/writer/dictionaries/torch_enum_names.h"
#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

constexpr std::uint8_t kLayoutFlags = kContiguous | kHasStorage | kShapeUnknown;

// Returns the bits of TensorTable.traits (capture.proto) for the flags of a TensorRecord.
std::uint32_t TraitsOf(std::uint8_t flags) {
  return ((flags & kWantsGradient) != 0 ? 1u : 0u) | ((flags & kUnlisted) != 0 ? 2u : 0u);
}

// The fields of a layout that are hashed (docs/capture_format.md, "Hashes").
struct LayoutKey {
  std::uint8_t dtype = 0;
  std::uint8_t ndim = 0;
  std::uint8_t flags = 0;
  std::uint8_t zero[5] = {};
  std::int64_t shape[2 * 255];  // ndim is one byte

  std::size_t numbers() const { return std::size_t{ndim} * ((flags & kContiguous) != 0 ? 1 : 2); }
  std::size_t bytes() const { return 8 + numbers() * sizeof(std::int64_t); }
};
static_assert(offsetof(LayoutKey, shape) == 8);

void FillKey(const TensorRecord& tensor, LayoutKey* key) {
  key->dtype = tensor.dtype;
  key->ndim = tensor.ndim;
  key->flags = tensor.header.flags & kLayoutFlags;
  std::memcpy(key->shape, &tensor + 1, key->numbers() * sizeof(std::int64_t));
}

void DefineLayout(const LayoutKey& key, const ContentHash& hash, std::uint32_t id, std::string* payload) {
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer definition(message, field::payload::kLayouts);
  definition.add_uint32(field::layout_def::kId, id);
  definition.add_bytes(field::layout_def::kHash, CanonicalBytes(hash));
  definition.add_uint32(field::layout_def::kDtype, key.dtype);
  definition.add_string(field::layout_def::kDtypeName, DtypeName(key.dtype));
  const std::int64_t* strides = key.shape + key.ndim;
  definition.add_packed_int64(field::layout_def::kSizes, key.shape, strides);
  if ((key.flags & kContiguous) == 0)
    definition.add_packed_int64(field::layout_def::kStrides, strides, strides + key.ndim);
  if ((key.flags & kHasStorage) != 0) definition.add_bool(field::layout_def::kHasStorage, true);
  if ((key.flags & kShapeUnknown) != 0) definition.add_bool(field::layout_def::kShapeUnknown, true);
}

std::uint64_t WithoutDepth(RecordHeader header) {
  header.depth = 0;
  std::uint64_t word;
  static_assert(sizeof header == sizeof word);
  std::memcpy(&word, &header, sizeof word);
  return word;
}

std::size_t Mix(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mixed = (a ^ (b << 24) ^ (b >> 40)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

}  // namespace

std::uint32_t Devices::Find(std::uint8_t type, std::int8_t index, std::uint32_t part, std::string* payload) {
  if (type == 0) [[likely]]
    return 0;
  std::uint32_t id = 1;
  for (; id <= devices_.size(); ++id) {
    if (devices_[id - 1].type == type && devices_[id - 1].index == index) break;
  }
  if (id > devices_.size()) devices_.push_back({type, index, 0});
  Define(id, part, payload);
  return id;
}

void Devices::Define(std::uint32_t id, std::uint32_t part, std::string* payload) {
  if (id == 0 || id > devices_.size() || devices_[id - 1].part == part) return;
  Device& device = devices_[id - 1];
  device.part = part;
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer definition(message, field::payload::kDevices);
  definition.add_uint32(field::device_def::kId, id);
  definition.add_string(field::device_def::kType, DeviceTypeName(device.type));
  // The index -1 ("the current device") occurs only for types of devices that have no index.
  if (device.index > 0) definition.add_uint32(field::device_def::kIndex, static_cast<std::uint32_t>(device.index));
}

std::uint32_t TensorTable::FindLayout(const TensorRecord& tensor, std::uint32_t part, std::string* definitions) {
  LayoutKey key;
  FillKey(tensor, &key);
  const ContentHash hash = HashBytes(&key, key.bytes());
  const ContentIds::Result found = layouts_.Find(hash, part);
  if (found.needs_definition) [[unlikely]]
    DefineLayout(key, hash, found.id, definitions);
  return found.id;
}

std::uint32_t TensorTable::FindReference(const TensorRecord& tensor, std::uint32_t part, std::string* definitions) {
  if (tensor.impl == 0) return 0;
  if (tensor.header.words > kRecentTensorWords) [[unlikely]]
    return AddReference(tensor, part, definitions);
  RecentTensor& seen = recent_[Mix(tensor.impl, tensor.storage) & (kRecentTensors - 1)];
  if (seen.chunk == chunk_ && IsSame(tensor, seen)) [[likely]]
    return seen.reference;
  const auto* words = reinterpret_cast<const std::uint64_t*>(&tensor);
  std::copy_n(words, tensor.header.words, seen.record);
  seen.record[0] = WithoutDepth(tensor.header);
  seen.chunk = chunk_;
  seen.reference = AddReference(tensor, part, definitions);
  return seen.reference;
}

bool TensorTable::IsSame(const TensorRecord& tensor, const RecentTensor& seen) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(&tensor);
  std::uint64_t differ = seen.record[0] ^ WithoutDepth(tensor.header);
  for (std::size_t i = 1; i < tensor.header.words; ++i) differ |= seen.record[i] ^ words[i];
  return differ == 0;
}

std::uint32_t TensorTable::AddReference(const TensorRecord& tensor, std::uint32_t part, std::string* definitions) {
  Row row{tensor.impl,
          tensor.storage,
          tensor.storage_bytes,
          FindLayout(tensor, part, definitions),
          0,
          TraitsOf(tensor.header.flags)};
  row.device = devices_.Find(tensor.device_type, tensor.device_index, part, definitions);
  Slot* slot = &FindSlot(row);
  if (slot->chunk != chunk_) {
    if ((rows_.size() + 1) * 2 > slots_.size()) {
      Grow();
      slot = &FindSlot(row);
    }
    *slot = {chunk_, static_cast<std::uint32_t>(rows_.size())};
    Append(row);
  }
  return slot->row + 1;
}

TensorTable::Slot& TensorTable::FindSlot(const Row& row) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = Mix(row.impl, row.storage) & mask;
  while (slots_[at].chunk == chunk_ && !(rows_[slots_[at].row] == row)) at = (at + 1) & mask;
  return slots_[at];
}

void TensorTable::Append(const Row& row) {
  const Row before = rows_.empty() ? Row{} : rows_.back();
  impl_delta_.PutDelta(row.impl, before.impl);
  storage_delta_.PutDelta(row.storage, before.storage);
  storage_bytes_.Put(row.storage_bytes);
  layout_.Put(row.layout);
  device_.Put(row.device);
  any_device_ = any_device_ || row.device != 0;
  traits_.Put(row.traits);
  any_traits_ = any_traits_ || row.traits != 0;
  rows_.push_back(row);
}

void TensorTable::Grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  for (std::size_t i = 0; i < rows_.size(); ++i) FindSlot(rows_[i]) = {chunk_, static_cast<std::uint32_t>(i)};
}

std::size_t TensorTable::bytes() const {
  const std::size_t device = any_device_ ? device_.size() : 0;
  const std::size_t traits = any_traits_ ? traits_.size() : 0;
  return impl_delta_.size() + storage_delta_.size() + storage_bytes_.size() + layout_.size() + device + traits;
}

void TensorTable::AddTo(std::string* payload) const {
  if (rows_.empty()) return;
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer table(message, field::payload::kTensors);
  impl_delta_.AddTo(table, field::tensor_table::kImplDelta);
  storage_delta_.AddTo(table, field::tensor_table::kStorageDelta);
  storage_bytes_.AddTo(table, field::tensor_table::kStorageBytes);
  layout_.AddTo(table, field::tensor_table::kLayout);
  if (any_device_) device_.AddTo(table, field::tensor_table::kDevice);
  if (any_traits_) traits_.AddTo(table, field::tensor_table::kTraits);
}

void TensorTable::Clear() {
  rows_.clear();
  any_device_ = any_traits_ = false;
  for (VarintColumn* column : {&impl_delta_, &storage_delta_, &storage_bytes_, &layout_, &device_, &traits_})
    column->clear();
  if (++chunk_ == 0) {  // after 2^32 chunks, the chunk numbers in old slots would match again
    slots_.assign(slots_.size(), Slot{});
    recent_.assign(recent_.size(), RecentTensor{});
    chunk_ = 1;
  }
}

}  // namespace memoir
