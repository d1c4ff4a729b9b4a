#include "interpose/import_slots.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

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
  const void* original;
  void* replacement;
  std::size_t changed;
};

// What an object says of its imports, in its dynamic section.
struct Imports {
  const ElfW(Sym) * symbols;
  const char* names;
  const ElfW(Rela) * tables[2];  // functions called through stubs; everything else
  std::size_t bytes[2];
};

class LoadedObject {
 public:
  explicit LoadedObject(const dl_phdr_info& info) : info_(info) {}

  bool Contains(const void* address) const { return Within(PT_LOAD, address); }
  bool IsReadOnlyAfterLoading(const void* address) const { return Within(PT_GNU_RELRO, address); }

  Imports FindImports() const {
    Imports found{};
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      if (info_.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      for (auto* entry = At<const ElfW(Dyn)>(info_.dlpi_phdr[i].p_vaddr); entry->d_tag != DT_NULL; ++entry)
        Read(*entry, &found);
    }
    return found;
  }

  template <class T>
  T* At(ElfW(Addr) offset) const {
    return reinterpret_cast<T*>(info_.dlpi_addr + offset);
  }

 private:
  // The loader has made most addresses absolute; the kernel's vdso keeps offsets.
  template <class T>
  T* Address(ElfW(Addr) value) const {
    return value < info_.dlpi_addr ? At<T>(value) : reinterpret_cast<T*>(value);
  }

  void Read(const ElfW(Dyn) & entry, Imports* found) const {
    switch (entry.d_tag) {
      case DT_SYMTAB:
        found->symbols = Address<const ElfW(Sym)>(entry.d_un.d_ptr);
        break;
      case DT_STRTAB:
        found->names = Address<const char>(entry.d_un.d_ptr);
        break;
      case DT_JMPREL:
        found->tables[0] = Address<const ElfW(Rela)>(entry.d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        found->bytes[0] = entry.d_un.d_val;
        break;
      case DT_RELA:
        found->tables[1] = Address<const ElfW(Rela)>(entry.d_un.d_ptr);
        break;
      case DT_RELASZ:
        found->bytes[1] = entry.d_un.d_val;
        break;
      default:
        break;
    }
  }

  bool Within(std::uint32_t segment_type, const void* address) const {
    const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info_.dlpi_phdr[i];
      const ElfW(Addr) begin = info_.dlpi_addr + segment.p_vaddr;
      if (segment.p_type == segment_type && wanted >= begin && wanted - begin < segment.p_memsz) return true;
    }
    return false;
  }

  const dl_phdr_info& info_;
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

int Redirect(dl_phdr_info* info, std::size_t, void* context) {
  Search& search = *static_cast<Search*>(context);
  const LoadedObject object(*info);
  const Imports imports = object.FindImports();
  if (imports.symbols == nullptr || imports.names == nullptr || object.Contains(search.replacement)) return 0;
  for (int table = 0; table < 2; ++table) {
    const std::size_t count = imports.tables[table] == nullptr ? 0 : imports.bytes[table] / sizeof(ElfW(Rela));
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& entry = imports.tables[table][i];
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
      if (type != kJumpSlot && type != kGlobalData) continue;
      if (std::strcmp(imports.names + imports.symbols[ELF64_R_SYM(entry.r_info)].st_name, search.function) != 0)
        continue;
      auto** slot = object.At<void*>(entry.r_offset);
      const void* now = __atomic_load_n(slot, __ATOMIC_RELAXED);
      if (now != search.original && !object.Contains(now)) continue;
      if (Store(object, slot, search.replacement)) ++search.changed;
    }
  }
  return 0;
}

}  // namespace

std::size_t RedirectImports(const char* function, const void* original, void* replacement) {
  Search search{function, original, replacement, 0};
  dl_iterate_phdr(&Redirect, &search);
  return search.changed;
}

}  // namespace memoir
