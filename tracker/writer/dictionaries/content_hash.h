// 128-bit hashes of the contents of dictionary entries: of names, of the layouts of tensors, of signatures. Readers
// recognize equal names and layouts of different ranks by these hashes, without a common dictionary.
#ifndef TRACKER_WRITER_DICTIONARIES_CONTENT_HASH_H_
#define TRACKER_WRITER_DICTIONARIES_CONTENT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include <xxhash.h>

namespace memoir {

struct ContentHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const ContentHash&) const = default;
};

inline ContentHash HashBytes(const void* bytes, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return {hash.low64, hash.high64};
}

// Returns the hash in XXH3's canonical form: 16 bytes, high half first, big-endian.
inline std::string CanonicalBytes(const ContentHash& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, {hash.low, hash.high});
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest));
}

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_CONTENT_HASH_H_
