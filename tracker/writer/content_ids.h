// Numbers for contents: an open-addressing table from 128-bit hash to id, which knows in which part an id was last
// defined.
//
// Bounded: at kMaxContents the table forgets everything and goes on with new numbers. An id never means two things in a
// process, but a content can then have two ids; readers merge by hash. One thread.
#ifndef TRACKER_WRITER_CONTENT_IDS_H_
#define TRACKER_WRITER_CONTENT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracker/writer/content_hash.h"

namespace memoir {

inline constexpr std::size_t kMaxContents = 32 * 1024;

class ContentIds {
 public:
  struct Result {
    std::uint32_t id;
    bool needs_definition;  // not defined yet in this part; the caller does it now
  };

  ContentIds();
  Result Find(const ContentHash& hash, std::uint32_t part);
  std::size_t size() const { return count_; }

 private:
  struct Slot {
    ContentHash hash;
    std::uint32_t id = 0;    // 0: free
    std::uint32_t part = 0;  // last defined in
  };
  Slot& FindSlot(const ContentHash& hash);
  void Grow();

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint32_t last_id_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_CONTENT_IDS_H_
