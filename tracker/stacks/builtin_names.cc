#include "tracker/stacks/builtin_names.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "interpose/ring.h"
#include "tracker/stacks/python_object.h"

namespace memoir {
namespace {

// The same in 3.10 to 3.14: tp_name and tp_base in a type; ml_name in a PyMethodDef.
constexpr int kTypeName = 24, kTypeBase = 256, kDefinitionName = 0;

struct Known {
  std::uint64_t key;  // 0: free
  std::uint32_t name;
};
constexpr std::size_t kSlots = 8192;
constinit Known known_names[kSlots] = {};
constinit std::size_t used = 0;
constinit std::uint64_t generation = 0;  // of the recording whose names they are

// A type or a definition may be freed, and another lie in its place: their names lie elsewhere then, as good as always.
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
    std::memset(known_names, 0, sizeof known_names);
    used = 0;
    generation = RecordingGeneration();
  }
  const char* type = call.self == nullptr ? nullptr : PointerAt(call.self, kObjectType);
  const std::uint64_t key = KeyOf(call.definition, type);
  std::size_t at = (key >> 20) % kSlots;
  for (; known_names[at].key != 0; at = (at + 1) % kSlots) {
    if (known_names[at].key == key) return known_names[at].name;
  }
  const std::uint32_t name = Define(call.definition, type);
  if (name == 0) return 0;
  known_names[at] = {key, name};
  ++used;
  return name;
}

}  // namespace memoir
