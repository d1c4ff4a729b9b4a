// Signatures without lists as they came last, by their kinds: those of most operators, which need neither a hash nor a
// count of their tensors then. One thread.
#ifndef TRACKER_WRITER_SEEN_SIGNATURES_H_
#define TRACKER_WRITER_SEEN_SIGNATURES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace memoir {

struct SeenSignature {
  std::uint64_t kinds[2] = {};  // padded with zeros
  std::uint32_t count = 0;      // of kinds
  std::uint32_t part = 0;       // in which it is defined; 0: none
  std::uint32_t id = 0;
  std::uint32_t tensors = 0;

  bool IsOf(const SeenSignature& key) const {
    return kinds[0] == key.kinds[0] && kinds[1] == key.kinds[1] && count == key.count && part == key.part;
  }
};

class SeenSignatures {
 public:
  // The only place for a signature, whatever it holds now.
  SeenSignature& At(const SeenSignature& key) {
    const std::uint64_t mixed = (key.kinds[0] ^ (key.kinds[1] << 1)) * 0x9e3779b97f4a7c15u;
    return places_[mixed >> 58];
  }

 private:
  std::array<SeenSignature, 64> places_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_SEEN_SIGNATURES_H_
