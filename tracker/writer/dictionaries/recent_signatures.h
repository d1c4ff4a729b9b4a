// A cache of recent signatures. A signature is a sequence of letters, one for the kind of each argument or result of a
// range, such as T for a tensor (docs/capture_format.md, "Argument kinds"). Signatures with tensor lists are not stored
// here. Most ranges have a recent signature. For them, the writer need not hash the signature or count its tensors. One
// thread.
#ifndef TRACKER_WRITER_DICTIONARIES_RECENT_SIGNATURES_H_
#define TRACKER_WRITER_DICTIONARIES_RECENT_SIGNATURES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace memoir {

struct RecentSignature {
  std::uint64_t kinds[2] = {};  // one byte for each kind, padded with zeros
  std::uint32_t count = 0;      // number of kinds
  std::uint32_t part = 0;       // part in which the signature was defined; 0: no part
  std::uint32_t id = 0;
  std::uint32_t tensors = 0;  // number of kinds that are T

  bool IsOf(const RecentSignature& key) const {
    return kinds[0] == key.kinds[0] && kinds[1] == key.kinds[1] && count == key.count && part == key.part;
  }
};

class RecentSignatures {
 public:
  // Returns the only place where the signature can be stored. The place may hold another signature.
  RecentSignature& At(const RecentSignature& key) {
    const std::uint64_t mixed = (key.kinds[0] ^ (key.kinds[1] << 1)) * 0x9e3779b97f4a7c15u;
    return places_[mixed >> 58];
  }

 private:
  std::array<RecentSignature, 64> places_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_RECENT_SIGNATURES_H_
