#include "tests/writer/content_hashes.h"

#include <xxhash.h>

namespace memoir::test {

using memoir::v1::LayoutDef;
using memoir::v1::NameDef;

std::string Canonical(const std::string& bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return {reinterpret_cast<const char*>(canonical.digest), 16};
}

std::string NameHash(const NameDef& name) {
  const std::string kind(1, static_cast<char>(name.kind())), zero(1, '\0');
  if (name.kind() == NameDef::MODULE)
    return Canonical(kind + name.module_root() + zero + name.text() + zero + name.module_class());
  if (name.kind() == NameDef::CODE) return Canonical(kind + name.code_file() + zero + name.text());
  return Canonical(kind + name.text());
}

std::string LayoutHash(const LayoutDef& layout) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(layout.dtype());
  bytes[1] = static_cast<char>(layout.sizes_size());
  bytes[2] = static_cast<char>((layout.strides_size() == 0 ? 1 : 0) | (layout.has_storage() ? 2 : 0) |
                               (layout.shape_unknown() ? 4 : 0));
  bytes.append(reinterpret_cast<const char*>(layout.sizes().data()), 8 * static_cast<std::size_t>(layout.sizes_size()));
  bytes.append(reinterpret_cast<const char*>(layout.strides().data()),
               8 * static_cast<std::size_t>(layout.strides_size()));
  return Canonical(bytes);
}

}  // namespace memoir::test
