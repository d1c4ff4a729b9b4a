// One object of the process as the loader describes it: where it lies, what it imports and what it defines. Valid
// inside the dl_iterate_phdr callback that it was made in. libc only.
#ifndef INTERPOSE_LOADED_OBJECT_H_
#define INTERPOSE_LOADED_OBJECT_H_

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace memoir {

// What an object says in its dynamic section.
struct DynamicSection {
  const ElfW(Sym) * symbols;
  const char* names;
  const ElfW(Rela) * tables[2];  // functions called through stubs; everything else
  std::size_t bytes[2];
  const std::uint32_t* hash;  // DT_GNU_HASH; nullptr: none
  // Of each symbol, and what they mean in what it needs and in what it defines (symbol_versions.h); nullptr: none.
  const ElfW(Versym) * versions;
  const ElfW(Verneed) * needed_versions;
  const ElfW(Verdef) * defined_versions;
  bool symbolic;  // it looks among its own symbols first
};

class LoadedObject {
 public:
  explicit LoadedObject(const dl_phdr_info& info) : info_(info) {}

  bool Contains(const void* address) const { return Within(PT_LOAD, address); }
  // In whole pages, as the loader does it: a part of a page at the end of what was to be read-only stays writable.
  bool IsReadOnlyAfterLoading(const void* address) const;
  // Whether the loader is done with the object, as far as can be seen: what is to be read-only is. For objects with
  // nothing to be so, and without /proc, taken for granted. Reads a file of the kernel's.
  bool IsLoaded() const;
  DynamicSection Dynamic() const;
  // The function of that name that the object defines, nullptr when it defines none. Without `version` one of several.
  const void* FindFunction(const char* name, const char* version = nullptr) const;

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
  void Read(const ElfW(Dyn) & entry, DynamicSection* found) const;
  bool Within(std::uint32_t segment_type, const void* address) const;
  // Of the pages that are read-only after loading, begin and end; equal where there are none.
  void FindSealed(ElfW(Addr) * begin, ElfW(Addr) * end) const;

  const dl_phdr_info& info_;
};

}  // namespace memoir

#endif  // INTERPOSE_LOADED_OBJECT_H_
