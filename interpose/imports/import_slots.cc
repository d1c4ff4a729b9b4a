#include "interpose/imports/import_slots.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "interpose/imports/loaded_object.h"
#include "interpose/imports/symbol_versions.h"

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

// The arguments and results of RedirectImports and RestoreImports.
struct Search {
  const char* function;
  const void* from;  // slots with this value are changed; with `from_stubs`, lazy slots as well
  void* to;
  bool from_stubs;
  std::size_t changed;
  std::size_t refused;
  std::size_t loading;
};

// Stores `value` in `slot`, also if the loader has made its page read-only. False if the page stays read-only.
bool Store(const LoadedObject& object, void** slot, void* value) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot) & ~(page_bytes - 1));
  const bool sealed = object.IsReadOnlyAfterLoading(static_cast<const void*>(slot));
  if (sealed && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (sealed) mprotect(page, page_bytes, PROT_READ);
  return true;
}

bool IsImport(const ElfW(Rela) & entry) {
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
  return type == kJumpSlot || type == kGlobalData;
}

// An import slot: the function's name, the number of its symbol, and the slot's address.
struct Slot {
  const char* name;
  std::uint32_t symbol;
  void** at;
};

template <class Visit>
void ForEachSlot(const LoadedObject& object, const DynamicSection& imports, Visit visit) {
  if (imports.symbols == nullptr || imports.names == nullptr) return;
  for (int table = 0; table < 2; ++table) {
    const std::size_t count = imports.tables[table] == nullptr ? 0 : imports.bytes[table] / sizeof(ElfW(Rela));
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& entry = imports.tables[table][i];
      if (!IsImport(entry)) continue;
      const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info));
      visit(Slot{imports.names + imports.symbols[symbol].st_name, symbol, object.At<void*>(entry.r_offset)});
    }
  }
}

// Visits the slots of one function.
template <class Visit>
void ForEachSlot(const LoadedObject& object, const char* function, Visit visit) {
  ForEachSlot(object, object.Dynamic(), [&](const Slot& slot) {
    if (std::strcmp(slot.name, function) == 0) visit(slot.at);
  });
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

// The function that FindImported or FindDefinition looks for, and the addresses found.
struct Lookup {
  const char* function;
  const void* bound;    // the content of a slot
  const void* defined;  // the first definition
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

// The arguments of RedirectSlot, and its result `stored`.
struct OneSlot {
  void** slot;
  const void* from;
  void* to;
  bool stored;
};

int RedirectOne(dl_phdr_info* info, std::size_t, void* context) {
  OneSlot& one = *static_cast<OneSlot*>(context);
  const LoadedObject object(*info);
  if (!object.Contains(static_cast<const void*>(one.slot))) return 0;
  one.stored = __atomic_load_n(one.slot, __ATOMIC_RELAXED) == one.from && Store(object, one.slot, one.to);
  return 1;
}

// Looks only for a definition, and reads no slot.
int FindDefined(dl_phdr_info* info, std::size_t, void* context) {
  Lookup& lookup = *static_cast<Lookup*>(context);
  lookup.defined = LoadedObject(*info).FindFunction(lookup.function);
  return lookup.defined != nullptr ? 1 : 0;
}

// The definitions of a function, for a slot that is still lazy.
struct Definers {
  const char* function;
  const char* version;
  ElfW(Addr) loader;
  bool at_start;  // true until the visit has passed the loader, the last of the objects loaded at the program's start
  bool several;
  const void* defined;
};

int CollectDefiners(dl_phdr_info* info, std::size_t, void* context) {
  Definers& definers = *static_cast<Definers*>(context);
  if (const void* defined = LoadedObject(*info).FindFunction(definers.function, definers.version); defined != nullptr) {
    definers.several = definers.defined != nullptr;
    definers.defined = defined;
    if (definers.at_start) return 1;
  }
  if (info->dlpi_addr == definers.loader) definers.at_start = false;
  return 0;
}

// Returns the function that the loader would write into a lazy slot. The loader searches the objects of the program's
// start, then globally loaded objects, then the importer's dependencies. Only the first list is visible here. So if
// several objects define the function, the result is known only if one of them is in the first list. nullptr if the
// result is unknown.
const void* FindForLazySlot(const LoadedObject& importer, const DynamicSection& imports, const Slot& slot) {
  const ElfW(Addr) loader = getauxval(AT_BASE);
  Definers definers{slot.name, NeededVersion(imports, slot.symbol), loader, loader != 0, false, nullptr};
  if (imports.symbolic) definers.defined = importer.FindFunction(slot.name, definers.version);
  if (definers.defined == nullptr) dl_iterate_phdr(&CollectDefiners, &definers);
  return definers.several ? nullptr : definers.defined;
}

// Whether `now`, the content of `slot`, is the definition of the slot's function in `object` itself.
bool IsOwnDefinition(const LoadedObject& object, const DynamicSection& imports, const Slot& slot, const void* now) {
  const ElfW(Sym)& symbol = imports.symbols[slot.symbol];
  return symbol.st_shndx != SHN_UNDEF && object.At<const void>(symbol.st_value) == now;
}

// The arguments and results of RedirectImportsBy.
struct ChoosingSearch {
  bool (*wanted)(const char* function);
  SlotChoice choose;
  VisitedObjects* seen;
  ChoiceCounts counts;
};

// Chooses the new value of one slot, and stores it. Call it only after the loader has finished the slot's object.
void ChooseFor(const LoadedObject& object, const DynamicSection& imports, const Slot& slot, ChoosingSearch* search) {
  const void* now = __atomic_load_n(slot.at, __ATOMIC_RELAXED);
  if (now == nullptr) return;  // a weak import without a definition: the program may test it
  const bool lazy = object.Contains(now) && !IsOwnDefinition(object, imports, slot, now);
  const void* original = lazy ? FindForLazySlot(object, imports, slot) : now;
  if (original == nullptr) {
    ++search->counts.undecided;
    return;
  }
  void* to = search->choose(slot.name, original);
  if (to == nullptr || to == now || object.Contains(to)) return;
  ++(Store(object, slot.at, to) ? search->counts.changed : search->counts.refused);
}

// An object is identified by the address of its program headers, which does not change while it is loaded.
bool WasSeen(const VisitedObjects& seen, const void* object) {
  for (std::size_t i = 0; i < seen.count; ++i) {
    if (seen.objects[i] == object) return true;
  }
  return false;
}

int RedirectByChoice(dl_phdr_info* info, std::size_t, void* context) {
  ChoosingSearch& search = *static_cast<ChoosingSearch*>(context);
  VisitedObjects& seen = *search.seen;
  if (seen.unloaded != info->dlpi_subs) {
    seen.unloaded = info->dlpi_subs;
    seen.count = 0;
  }
  if (WasSeen(seen, info->dlpi_phdr)) return 0;
  const LoadedObject object(*info);
  const DynamicSection imports = object.Dynamic();
  ChoiceCounts& counts = search.counts;
  const std::size_t left_before = counts.left();
  int is_loaded = -1;  // not yet determined, because IsLoaded makes a system call
  ForEachSlot(object, imports, [&](const Slot& slot) {
    if (!search.wanted(slot.name)) return;
    if (is_loaded == -1) is_loaded = object.IsLoaded() ? 1 : 0;
    // A slot of an unfinished object may hold any value. If the value is an offset within the object, the loader has
    // not yet turned the offset into an address.
    const void* now = __atomic_load_n(slot.at, __ATOMIC_RELAXED);
    const void* relocated = object.At<void>(reinterpret_cast<std::uintptr_t>(now));
    if (is_loaded == 0 || (now != nullptr && !object.Contains(now) && object.Contains(relocated))) {
      ++counts.loading;
    } else {
      ChooseFor(object, imports, slot, &search);
    }
  });
  if (counts.left() == left_before && seen.count < VisitedObjects::kMost) seen.objects[seen.count++] = info->dlpi_phdr;
  return 0;
}

int CountObjects(dl_phdr_info* info, std::size_t, void* context) {
  *static_cast<LoaderCounts*>(context) = {info->dlpi_adds, info->dlpi_subs};
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

bool RedirectSlot(void** slot, const void* original, void* replacement) {
  OneSlot one{slot, original, replacement, false};
  dl_iterate_phdr(&RedirectOne, &one);
  return one.stored;
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

const void* FindDefinition(const char* function) {
  Lookup lookup{function, nullptr, nullptr};
  dl_iterate_phdr(&FindDefined, &lookup);
  return lookup.defined;
}

ChoiceCounts RedirectImportsBy(bool (*wanted)(const char* function), SlotChoice choose, VisitedObjects* seen) {
  ChoosingSearch search{wanted, choose, seen, {}};
  dl_iterate_phdr(&RedirectByChoice, &search);
  return search.counts;
}

LoaderCounts CountLoads() {
  LoaderCounts counts{};
  dl_iterate_phdr(&CountObjects, &counts);
  return counts;
}

std::uint64_t ObjectsLoadedSoFar() { return CountLoads().loaded; }

}  // namespace memoir
