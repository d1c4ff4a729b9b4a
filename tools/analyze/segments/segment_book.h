// Reserved, used and unusable bytes of a device, updated with each event. MapSegments returns the same figures, but
// visits every live block; this class needs only a look-up for each event.
#ifndef TOOLS_ANALYZE_SEGMENTS_SEGMENT_BOOK_H_
#define TOOLS_ANALYZE_SEGMENTS_SEGMENT_BOOK_H_

#include <cstdint>
#include <map>

#include "tools/analyze/segments/segment_map.h"
#include "tools/model/capture.h"

namespace memoir {

class SegmentBook {
 public:
  // Computes all figures again, from the current state of a replay. Call it at the begin of the replay, and after lost
  // events.
  void Rebuild(const ReplayState& state, DeviceId device);

  void AddPiece(std::uint64_t address, const ReservedPiece& piece);
  void RemovePiece(std::uint64_t address, std::uint64_t bytes);
  void AddBlock(std::uint64_t address, std::uint64_t bytes);
  void RemoveBlock(std::uint64_t address);  // does nothing if the address has no known block

  std::uint64_t reserved() const { return reserved_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t unusable() const { return kept_ - (kept_ < used_ ? kept_ : used_); }

 private:
  std::uint64_t TouchedBy(std::uint64_t address, std::uint64_t bytes) const;

  std::map<std::uint64_t, ReservedPiece> pieces_;  // by address
  std::map<std::uint64_t, std::uint64_t> blocks_;  // bytes by address
  std::uint64_t reserved_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t kept_ = 0;  // bytes of pages that blocks touch, and of private pools
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SEGMENTS_SEGMENT_BOOK_H_
