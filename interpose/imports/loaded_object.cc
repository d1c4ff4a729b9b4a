#include "interpose/imports/loaded_object.h"

#include <unistd.h>

#include <cstring>

#include "interpose/imports/page_access.h"
#include "interpose/imports/symbol_versions.h"

namespace memoir {
namespace {

std::uint32_t GnuHash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<std::uint8_t>(*name);
  return hash;
}

}  // namespace

DynamicSection LoadedObject::Dynamic() const {
  DynamicSection found{};
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    if (info_.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (auto* entry = At<const ElfW(Dyn)>(info_.dlpi_phdr[i].p_vaddr); entry->d_tag != DT_NULL; ++entry)
      Read(*entry, &found);
  }
  return found;
}

void LoadedObject::Read(const ElfW(Dyn) & entry, DynamicSection* found) const {
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
    case DT_GNU_HASH:
      found->hash = Address<const std::uint32_t>(entry.d_un.d_ptr);
      break;
    case DT_VERSYM:
      found->versions = Address<const ElfW(Versym)>(entry.d_un.d_ptr);
      break;
    case DT_VERNEED:
      found->needed_versions = Address<const ElfW(Verneed)>(entry.d_un.d_ptr);
      break;
    case DT_VERDEF:
      found->defined_versions = Address<const ElfW(Verdef)>(entry.d_un.d_ptr);
      break;
    case DT_SYMBOLIC:
      found->symbolic = true;
      break;
    case DT_FLAGS:
      found->symbolic = found->symbolic || (entry.d_un.d_val & DF_SYMBOLIC) != 0;
      break;
    default:
      break;
  }
}

bool LoadedObject::Within(std::uint32_t segment_type, const void* address) const {
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info_.dlpi_phdr[i];
    const ElfW(Addr) begin = info_.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == segment_type && wanted >= begin && wanted - begin < segment.p_memsz) return true;
  }
  return false;
}

void LoadedObject::FindSealed(ElfW(Addr) * begin, ElfW(Addr) * end) const {
  const auto whole_pages = ~(static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE)) - 1);
  *begin = *end = 0;
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info_.dlpi_phdr[i];
    if (segment.p_type != PT_GNU_RELRO) continue;
    *begin = (info_.dlpi_addr + segment.p_vaddr) & whole_pages;
    *end = (info_.dlpi_addr + segment.p_vaddr + segment.p_memsz) & whole_pages;
  }
}

bool LoadedObject::IsReadOnlyAfterLoading(const void* address) const {
  ElfW(Addr) begin, end;
  FindSealed(&begin, &end);
  const auto wanted = reinterpret_cast<ElfW(Addr)>(address);
  return wanted >= begin && wanted < end;
}

bool LoadedObject::IsLoaded() const {
  ElfW(Addr) begin, end;
  FindSealed(&begin, &end);
  return begin >= end || !IsWritable(begin);
}

// DT_GNU_HASH consists of four numbers, a filter, the buckets, and one chain word for each symbol from the first hashed
// one on.
const void* LoadedObject::FindFunction(const char* name, const char* version) const {
  const DynamicSection dynamic = Dynamic();
  if (dynamic.hash == nullptr || dynamic.symbols == nullptr || dynamic.names == nullptr) return nullptr;
  const std::uint32_t bucket_count = dynamic.hash[0], first = dynamic.hash[1], filter_words = dynamic.hash[2];
  if (bucket_count == 0) return nullptr;
  const std::uint32_t* buckets = dynamic.hash + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* chain = buckets + bucket_count;
  const std::uint32_t hash = GnuHash(name);
  std::uint32_t symbol = buckets[hash % bucket_count];
  if (symbol < first) return nullptr;
  for (;; ++symbol) {
    const std::uint32_t link = chain[symbol - first];
    const ElfW(Sym)& found = dynamic.symbols[symbol];
    if ((link | 1) == (hash | 1) && found.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(found.st_info) == STT_FUNC &&
        std::strcmp(dynamic.names + found.st_name, name) == 0 && DefinesVersion(dynamic, symbol, version)) {
      return At<const void>(found.st_value);
    }
    if ((link & 1) != 0) return nullptr;
  }
}

}  // namespace memoir
