// Assigns ids to contents of dictionary entries, such as the layouts of tensors. An open-addressing table maps the
// content's 128-bit hash to the id, and to the part in which the id was last defined.
//
// Bounded: when the table has kMaxContents contents, it is cleared, and continues with new ids. So a process never uses
// an id for two contents. A content may get two ids; readers merge them by the hash. One thread.
#ifndef TRACKER_WRITER_DICTIONARIES_CONTENT_IDS_H_
#define TRACKER_WRITER_DICTIONARIES_CONTENT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracker/writer/dictionaries/content_hash.h"

namespace memoir {

inline constexpr std::size_t kMaxContents = 32 * 1024;

class ContentIds {
 public:
  struct Result {
    std::uint32_t id;
    bool needs_definition;  // this part has no definition yet; the caller adds it now
  };

  ContentIds();
  // Returns the id of the content, and whether the caller must define it in `part`. A new content gets a new id.
  Result Find(const ContentHash& hash, std::uint32_t part);
  std::size_t size() const { return count_; }

 private:
  struct Slot {
    ContentHash hash;
    std::uint32_t id = 0;    // 0: free
    std::uint32_t part = 0;  // part in which the id was last defined
  };
  Slot& FindSlot(const ContentHash& hash);
  void Grow();

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint32_t last_id_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_DICTIONARIES_CONTENT_IDS_H_
