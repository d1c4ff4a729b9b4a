#include "tools/symbolize/native_addresses.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/read/capture_folder.h"
#include "tools/read/chunk/payload.h"

namespace memoir {
namespace {

// Adds the addresses of one part. Numbers of names are valid within a part.
void AddPart(const PartFile& part, NativeAddresses& found) {
  PayloadReader reader;
  SignatureCountsById signatures;
  absl::flat_hash_map<std::uint32_t, std::set<std::uint32_t>*> objects;
  for (const ChunkHeader& chunk : part.chunks) {
    std::string bytes;
    Payload payload;
    if (chunk.stored_bytes == 0 || !reader.Read(part, chunk, &bytes).ok()) continue;
    if (!ParsePayload(std::move(bytes), &signatures, &payload).ok()) continue;
    for (const v1::NameDef& name : payload.names) {
      if (name.kind() == v1::NameDef::CODE && IsNativeObject(name.text()))
        objects[name.id()] = &found[NativeObjectOf(name.code_file(), name.text())];
    }
    for (const v1::StackDef& stack : payload.stacks) {
      if (const auto object = objects.find(stack.code()); object != objects.end()) object->second->insert(stack.line());
    }
  }
}

}  // namespace

absl::StatusOr<NativeAddresses> FindNativeAddresses(const std::string& capture) {
  const absl::StatusOr<CaptureFolder> folder = OpenFolder(capture);
  if (!folder.ok()) return folder.status();
  NativeAddresses found;
  for (const ProcessFiles& process : folder->processes) {
    for (const PartFile& part : process.parts) AddPart(part, found);
  }
  return found;
}

}  // namespace memoir
