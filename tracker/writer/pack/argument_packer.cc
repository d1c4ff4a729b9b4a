#include "tracker/writer/pack/argument_packer.h"

#include <cstring>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

// A signature is damaged if it announces more tensors than the event has, and the difference is larger than this
// number.
constexpr std::uint64_t kMaxMissingTensors = 1u << 20;

// Returns the number of tensors that a signature announces. If the number of lists among the kinds differs from the
// number of list lengths, returns a number that no range can have.
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

// Sets *key to the event's signature. Returns false if the signature is empty, has lists, or has more kinds than the
// key can hold. Copies whole words of 8 bytes, which is possible because a record is padded after its kinds.
bool MakeKey(const EventGroup& group, std::uint32_t part, RecentSignature* key) {
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

// Writes one entry for each tensor that the signature announces. The entry of a tensor that was lost is 0. Tensors that
// the signature does not announce are left out.
bool ArgumentPacker::AddArguments(const EventGroup& group, RunColumns& run) {
  RecentSignature key;
  RecentSignature* const seen = MakeKey(group, shared_.part, &key) ? &recent_signatures_.At(key) : nullptr;
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
    signature = FindSignature(group);
    key.id = signature;
    key.tensors = static_cast<std::uint32_t>(announced);
    if (seen != nullptr) *seen = key;
  }
  run.Put(RunColumn::kSignature, signature);
  for (std::size_t i = 0; i < announced; ++i) {
    run.Put(RunColumn::kTensor, i < group.tensors.size()
                                    ? tensors_.FindReference(*group.tensors[i], shared_.part, &shared_.definitions)
                                    : 0);
  }
  return true;
}

std::uint32_t ArgumentPacker::FindSignature(const EventGroup& group) {
  // Copies the kinds and the lengths, because the padding between them in the ring is undefined.
  char key[kMaxRecordBytes];
  const std::size_t kinds = group.kinds.copy(key, group.kinds.size());
  std::memcpy(key + kinds, group.list_lengths, group.list_count * sizeof(std::uint32_t));
  const ContentHash hash = HashBytes(key, kinds + group.list_count * sizeof(std::uint32_t));
  const ContentIds::Result found = signatures_.Find(hash, shared_.part);
  if (!found.needs_definition) [[likely]]
    return found.id;
  protozero::pbf_writer message(shared_.definitions);
  protozero::pbf_writer definition(message, field::payload::kSignatures);
  definition.add_uint32(field::signature_def::kId, found.id);
  definition.add_bytes(field::signature_def::kKinds, group.kinds.data(), group.kinds.size());
  definition.add_packed_uint32(field::signature_def::kListLengths, group.list_lengths,
                               group.list_lengths + group.list_count);
  return found.id;
}

}  // namespace memoir
