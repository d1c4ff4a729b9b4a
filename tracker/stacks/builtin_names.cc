#include "tracker/stacks/builtin_names.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "interpose/ring/ring.h"
#include "tracker/stacks/python_object.h"

namespace memoir {
namespace {

// Byte offsets that are equal in Python 3.10 to 3.14: tp_name and tp_base in a type; ml_name in a PyMethodDef.
constexpr int kTypeName = 24, kTypeBase = 256, kDefinitionName = 0;

struct NamedBuiltin {
  std::uint64_t key;  // 0: free
  std::uint32_t name;
};
constexpr std::size_t kSlots = 8192;
constinit NamedBuiltin named_builtins[kSlots] = {};
constinit std::size_t used = 0;
constinit std::uint64_t generation = 0;  // identifies the recording for which the names were defined

// When a type or a PyMethodDef is freed, a new type or PyMethodDef may get its address. But the text of the new name
// almost certainly has another address than the text of the old name. So the key includes the addresses of the names.
std::uint64_t KeyOf(const char* definition, const char* type) {
  std::uint64_t key = 0;
  const char* const parts[] = {definition, PointerAt(definition, kDefinitionName), type,
                               type == nullptr ? nullptr : PointerAt(type, kTypeName)};
  for (const char* part : parts) {
    key = (key ^ reinterpret_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
  }
  return key | 1;
}

bool IsModule(const char* type) {
  constexpr int kMostBases = 32;
  static const void* const module_type = dlsym(RTLD_DEFAULT, "PyModule_Type");
  for (int i = 0; type != nullptr && i < kMostBases; ++i, type = PointerAt(type, kTypeBase)) {
    if (type == module_type) return true;
  }
  return false;
}

std::uint32_t Define(const char* definition, const char* type) {
  constexpr int kMostText = 500;
  char text[kMaxInlineName];
  const char* name = PointerAt(definition, kDefinitionName);
  if (type == nullptr || IsModule(type)) {
    std::snprintf(text, sizeof text, "<built-in function %.*s>", kMostText, name);
  } else {
    std::snprintf(text, sizeof text, "<built-in method %.*s of %.*s object>", kMostText, name, kMostText - 50,
                  PointerAt(type, kTypeName));
  }
  return RingDefineCode("", text);
}

}  // namespace

std::uint32_t BuiltinName(const BuiltinCall& call) {
  if (generation != RecordingGeneration() || used > kSlots / 4 * 3) {
    std::memset(named_builtins, 0, sizeof named_builtins);
    used = 0;
    generation = RecordingGeneration();
  }
  const char* type = call.self == nullptr ? nullptr : PointerAt(call.self, kObjectType);
  const std::uint64_t key = KeyOf(call.definition, type);
  std::size_t at = (key >> 20) % kSlots;
  for (; named_builtins[at].key != 0; at = (at + 1) % kSlots) {
    if (named_builtins[at].key == key) return named_builtins[at].name;
  }
  const std::uint32_t name = Define(call.definition, type);
  if (name == 0) return 0;
  named_builtins[at] = {key, name};
  ++used;
  return name;
}

}  // namespace memoir
