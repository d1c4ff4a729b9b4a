#include "interpose/import_slots.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "interpose/loaded_object.h"

namespace memoir {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t kGlobalData = R_AARCH64_GLOB_DAT;
#else
#error "say what this machine's relocations are called"
#endif

struct Search {
  const char* function;
  const void* from;  // what a slot may hold to be changed, beside its object's own lazy stub
  void* to;
  bool from_stubs;
  std::size_t changed;
  std::size_t refused;
  std::size_t loading;
};

bool Store(const LoadedObject& object, void** slot, void* value) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot) & ~(page_bytes - 1));
  const bool sealed = object.IsReadOnlyAfterLoading(slot);
  if (sealed && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (sealed) mprotect(page, page_bytes, PROT_READ);
  return true;
}

bool IsImport(const ElfW(Rela) & entry) {
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
  return type == kJumpSlot || type == kGlobalData;
}

// Calls `visit` with each slot in which the object keeps the address of `function`.
template <class Visit>
void ForEachSlot(const LoadedObject& object, const char* function, Visit visit) {
  const DynamicSection imports = object.Dynamic();
  if (imports.symbols == nullptr || imports.names == nullptr) return;
  for (int table = 0; table < 2; ++table) {
    const std::size_t count = imports.tables[table] == nullptr ? 0 : imports.bytes[table] / sizeof(ElfW(Rela));
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& entry = imports.tables[table][i];
      if (!IsImport(entry)) continue;
      if (std::strcmp(imports.names + imports.symbols[ELF64_R_SYM(entry.r_info)].st_name, function) == 0)
        visit(object.At<void*>(entry.r_offset));
    }
  }
}

int Redirect(dl_phdr_info* info, std::size_t, void* context) {
  Search& search = *static_cast<Search*>(context);
  const LoadedObject object(*info);
  if (search.from_stubs && object.Contains(search.to)) return 0;
  ForEachSlot(object, search.function, [&](void** slot) {
    const void* now = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (now == search.to) return;
    if (!object.IsLoaded()) {
      ++search.loading;
      return;
    }
    now = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (now != search.from && !(search.from_stubs && object.Contains(now))) return;
    ++(Store(object, slot, search.to) ? search.changed : search.refused);
  });
  return 0;
}

struct Lookup {
  const char* function;
  const void* bound;    // what a slot holds
  const void* defined;  // by the first object that does
};

int Find(dl_phdr_info* info, std::size_t, void* context) {
  Lookup& lookup = *static_cast<Lookup*>(context);
  const LoadedObject object(*info);
  ForEachSlot(object, lookup.function, [&](void** slot) {
    const void* now = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (lookup.bound == nullptr && now != nullptr && !object.Contains(now)) lookup.bound = now;
  });
  if (lookup.defined == nullptr) lookup.defined = object.FindFunction(lookup.function);
  return lookup.bound != nullptr ? 1 : 0;
}

int CountAdded(dl_phdr_info* info, std::size_t, void* context) {
  *static_cast<std::uint64_t*>(context) = info->dlpi_adds;
  return 1;
}

}  // namespace

std::size_t RedirectImports(const char* function, const void* original, void* replacement, std::size_t* refused,
                            std::size_t* loading) {
  Search search{function, original, replacement, true, 0, 0, 0};
  dl_iterate_phdr(&Redirect, &search);
  if (refused != nullptr) *refused = search.refused;
  if (loading != nullptr) *loading = search.loading;
  return search.changed;
}

std::size_t RestoreImports(const char* function, const void* original, const void* replacement) {
  Search search{function, replacement, const_cast<void*>(original), false, 0, 0, 0};
  dl_iterate_phdr(&Redirect, &search);
  return search.changed;
}

const void* FindImported(const char* function) {
  Lookup lookup{function, nullptr, nullptr};
  dl_iterate_phdr(&Find, &lookup);
  return lookup.bound != nullptr ? lookup.bound : lookup.defined;
}

std::uint64_t ObjectsLoadedSoFar() {
  std::uint64_t count = 0;
  dl_iterate_phdr(&CountAdded, &count);
  return count;
}

}  // namespace memoir
