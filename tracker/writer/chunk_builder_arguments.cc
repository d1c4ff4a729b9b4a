// Arguments and results of ranges, and other lists of tensors.
#include <cstring>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/capture_fields.h"
#include "tracker/writer/chunk_builder.h"

namespace memoir {
namespace {

// A signature that announces more tensors than came, beyond this, is damage.
constexpr std::uint64_t kMaxMissingTensors = 1u << 20;

// Tensor entries that a signature takes, or more than any range can have when kinds and lengths do not fit together.
std::uint64_t AnnouncedTensors(const EventGroup& group) {
  std::uint64_t tensors = 0;
  std::uint32_t lists = 0;
  for (const char kind : group.kinds) {
    tensors += kind == 'T' ? 1 : 0;
    lists += kind == 'L' ? 1 : 0;
  }
  if (lists != group.list_count) return ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < lists; ++i) tensors += group.list_lengths[i];
  return tensors;
}

// False: it has lists, or more kinds than the key holds. Behind the kinds a record has room up to a multiple of 8
// bytes.
bool MakeKey(const EventGroup& group, std::uint32_t part, SeenSignature* key) {
  const std::size_t count = group.kinds.size();
  if (count == 0 || count > sizeof key->kinds || group.list_count != 0) return false;
  key->count = static_cast<std::uint32_t>(count);
  key->part = part;
  const char* const kinds = group.kinds.data();
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, kinds, sizeof low);
  if (count > sizeof low) std::memcpy(&high, kinds + sizeof low, sizeof high);
  if (count < sizeof low) low &= (std::uint64_t{1} << count * 8) - 1;
  if (count % sizeof low != 0 && count > sizeof low) high &= (std::uint64_t{1} << count % sizeof low * 8) - 1;
  key->kinds[0] = low;
  key->kinds[1] = high;
  return true;
}

}  // namespace

// As many tensor entries as the signature announces: 0 for those that were lost, none for those that it does not
// announce.
bool ChunkBuilder::AddArguments(const EventGroup& group, RunColumns& run) {
  SeenSignature key;
  SeenSignature* const seen = MakeKey(group, part_, &key) ? &seen_signatures_.At(key) : nullptr;
  std::uint32_t signature = 0;
  std::uint64_t announced = 0;
  if (seen != nullptr && seen->IsOf(key) && seen->tensors <= group.tensors.size() + kMaxMissingTensors) [[likely]] {
    signature = seen->id;
    announced = seen->tensors;
  } else {
    announced = AnnouncedTensors(group);
    if (group.kinds.empty() || announced > group.tensors.size() + kMaxMissingTensors) {
      run.Put(RunColumn::kSignature, 0);
      return false;
    }
    signature = Signature(group);
    key.id = signature;
    key.tensors = static_cast<std::uint32_t>(announced);
    if (seen != nullptr) *seen = key;
  }
  run.Put(RunColumn::kSignature, signature);
  for (std::size_t i = 0; i < announced; ++i) {
    run.Put(RunColumn::kTensor,
            i < group.tensors.size() ? tensors_.Reference(*group.tensors[i], part_, &definitions_) : 0);
  }
  return true;
}

std::uint32_t ChunkBuilder::Signature(const EventGroup& group) {
  // In the ring undefined padding may stand between the two.
  char key[kMaxRecordBytes];
  const std::size_t kinds = group.kinds.copy(key, group.kinds.size());
  std::memcpy(key + kinds, group.list_lengths, group.list_count * sizeof(std::uint32_t));
  const ContentHash hash = HashBytes(key, kinds + group.list_count * sizeof(std::uint32_t));
  const ContentIds::Result found = signatures_.Find(hash, part_);
  if (!found.needs_definition) [[likely]]
    return found.id;
  protozero::pbf_writer message(definitions_);
  protozero::pbf_writer definition(message, field::payload::kSignatures);
  definition.add_uint32(field::signature::kId, found.id);
  definition.add_bytes(field::signature::kKinds, group.kinds.data(), group.kinds.size());
  definition.add_packed_uint32(field::signature::kListLengths, group.list_lengths,
                               group.list_lengths + group.list_count);
  return found.id;
}

}  // namespace memoir
