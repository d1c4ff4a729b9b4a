// One loaded object (program or library) as the loader describes it: its addresses, its imports and its definitions.
// Valid only inside the dl_iterate_phdr callback that created it. This code needs no library except libc.
#ifndef INTERPOSE_IMPORTS_LOADED_OBJECT_H_
#define INTERPOSE_IMPORTS_LOADED_OBJECT_H_

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace memoir {

// The content of an object's dynamic section.
struct DynamicSection {
  const ElfW(Sym) * symbols;
  const char* names;
  const ElfW(Rela) * tables[2];  // relocations: [0] of functions called through stubs; [1] all others
  std::size_t bytes[2];          // sizes of the tables
  const std::uint32_t* hash;     // DT_GNU_HASH; nullptr: none
  // The version number of each symbol, and the names of these numbers for required and for defined symbols
  // (symbol_versions.h). nullptr if the object has no versions.
  const ElfW(Versym) * versions;
  const ElfW(Verneed) * needed_versions;
  const ElfW(Verdef) * defined_versions;
  bool symbolic;  // the object's own symbols take precedence (DT_SYMBOLIC)
};

class LoadedObject {
 public:
  explicit LoadedObject(const dl_phdr_info& info) : info_(info) {}

  bool Contains(const void* address) const { return Within(PT_LOAD, address); }
  // Whether the page of `address` becomes read-only after loading. Like the loader, counts only whole pages: a partial
  // page at the end of the read-only pages stays writable.
  bool IsReadOnlyAfterLoading(const void* address) const;
  // Whether the loader has finished the object: the pages that become read-only after loading are read-only. Always
  // true for an object without such pages.
  bool IsLoaded() const;
  DynamicSection Dynamic() const;
  // Returns the object's definition of the function. nullptr if the object does not define it. Without `version`,
  // returns any of several versions.
  const void* FindFunction(const char* name, const char* version = nullptr) const;

  template <class T>
  T* At(ElfW(Addr) offset) const {
    return reinterpret_cast<T*>(info_.dlpi_addr + offset);
  }

 private:
  // Converts an entry of the dynamic section to an address. The loader has made the entries of most objects absolute;
  // the entries of the kernel's vdso are still offsets.
  template <class T>
  T* Address(ElfW(Addr) value) const {
    return value < info_.dlpi_addr ? At<T>(value) : reinterpret_cast<T*>(value);
  }
  void Read(const ElfW(Dyn) & entry, DynamicSection* found) const;
  bool Within(std::uint32_t segment_type, const void* address) const;
  // Stores begin and end of the pages that are read-only after loading; both are equal if there are no such pages.
  void FindSealed(ElfW(Addr) * begin, ElfW(Addr) * end) const;

  const dl_phdr_info& info_;
};

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_LOADED_OBJECT_H_
