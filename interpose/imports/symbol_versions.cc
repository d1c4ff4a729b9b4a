#include "interpose/imports/symbol_versions.h"

#include <cstring>

namespace memoir {
namespace {

constexpr unsigned kNumber = 0x7fff;      // the bit above marks a version that is not the default
constexpr unsigned kFirstOfAVersion = 2;  // 0: local to the object; 1: global without a version

template <class T>
const T* After(const void* at, std::uint32_t bytes) {
  return reinterpret_cast<const T*>(static_cast<const char*>(at) + bytes);
}

const char* DefinedName(const DynamicSection& definer, unsigned number) {
  const ElfW(Verdef)* version = definer.defined_versions;
  while (version != nullptr) {
    if (version->vd_ndx == number) return definer.names + After<ElfW(Verdaux)>(version, version->vd_aux)->vda_name;
    version = version->vd_next == 0 ? nullptr : After<ElfW(Verdef)>(version, version->vd_next);
  }
  return nullptr;
}

const char* NeededName(const DynamicSection& importer, unsigned number) {
  const ElfW(Verneed)* file = importer.needed_versions;
  while (file != nullptr) {
    const auto* version = After<ElfW(Vernaux)>(file, file->vn_aux);
    for (unsigned i = 0; i < file->vn_cnt; ++i) {
      if ((version->vna_other & kNumber) == number) return importer.names + version->vna_name;
      version = After<ElfW(Vernaux)>(version, version->vna_next);
    }
    file = file->vn_next == 0 ? nullptr : After<ElfW(Verneed)>(file, file->vn_next);
  }
  return nullptr;
}

}  // namespace

const char* NeededVersion(const DynamicSection& importer, std::uint32_t symbol) {
  if (importer.versions == nullptr || importer.names == nullptr) return nullptr;
  const unsigned number = importer.versions[symbol] & kNumber;
  if (number < kFirstOfAVersion) return nullptr;
  const char* needed = NeededName(importer, number);
  return needed != nullptr ? needed : DefinedName(importer, number);  // the importer itself may define the version
}

// A library without versions satisfies every version.
bool DefinesVersion(const DynamicSection& definer, std::uint32_t symbol, const char* version) {
  if (version == nullptr || definer.versions == nullptr || definer.names == nullptr) return true;
  const unsigned number = definer.versions[symbol] & kNumber;
  if (number < kFirstOfAVersion) return number != 0;
  const char* defined = DefinedName(definer, number);
  return defined != nullptr && std::strcmp(defined, version) == 0;
}

}  // namespace memoir
