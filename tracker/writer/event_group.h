// From ring bytes to events: one event and the tensor records that belong to it, across segment borders.
//
// Trusts the ring no further than its bytes: lengths are checked against the segment, because memoir-drain reads rings
// of dead processes. Copies nothing: a group points into the ring and is valid until its segments are released. One
// thread.
#ifndef TRACKER_WRITER_EVENT_GROUP_H_
#define TRACKER_WRITER_EVENT_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/ring_reader.h"
#include "interpose/ring_record.h"

namespace memoir {

// As `seen_record`: no producer is left, or it has given up; what is missing stays missing.
inline constexpr std::uint64_t kAllSeen = ~std::uint64_t{0};

struct EventGroup {
  RecordKind kind = RecordKind::kNone;
  const RecordHeader* header = nullptr;  // the record is the struct that `kind` names
  std::uint64_t tick = 0;
  std::uint64_t first_record = 0;  // index on its thread
  std::uint64_t records = 0;       // itself and its tensors
  std::string_view kinds;          // range begin and end
  const std::uint32_t* list_lengths = nullptr;
  std::uint32_t list_count = 0;
  std::string_view text;                     // inline name, a mark's, or the names of what a module holds
  std::vector<const TensorRecord*> tensors;  // fewer than announced when some were lost

  template <typename Record>
  const Record& As() const {
    return *reinterpret_cast<const Record*>(header);
  }
};

// Fills `group` from the record at its header, tensors and record numbers apart. Returns how many tensors it announces.
std::uint32_t ReadEvent(EventGroup* group);

// One thread's unconsumed records, segment after segment.
class ThreadRecords {
 public:
  struct Segment {
    SegmentView view;
    std::uint64_t end_record;  // index after its last record, known once passed
  };
  // Where the next record is.
  struct Position {
    std::size_t segment = 0;
    const std::uint8_t* at = nullptr;
    std::uint64_t record = 0;
  };
  enum class Found {
    kGroup,       // *group is filled
    kNothing,     // all read
    kIncomplete,  // the group's last records are not there yet; *group has its tick
    kUnclear,     // tensors without their begin: lost, or only not visible to this scan
  };

  // Views of one thread, in order. Records before `next_record` were read in an earlier pass and are skipped.
  void Reset(const SegmentView* views, std::size_t count, std::uint64_t next_record);

  // Of those that Reset skipped: a reader that starts here learns from them which Python stack the thread has.
  const std::vector<const StackRecord*>& skipped_stacks() const { return skipped_stacks_; }

  // Reads the group at the position without moving on. Damaged, dropped and orphaned records (tensors whose begin was
  // lost) are stepped over. A scan reads one segment after the other while threads go on, so that an index can seem to
  // be missing that is not: a gap inside a group is believed where what stands behind it was there in an earlier pass
  // already, before `seen_record`.
  Found Peek(EventGroup* group, std::uint64_t seen_record);
  // Past the group that Peek found.
  void Advance() { position_ = after_; }

  // Index after the last record that is visible now.
  std::uint64_t LastVisibleRecord() const;

  // Tells `reader` what lies before the position, once that is on file.
  void ConsumeUpToPosition(RingReader& reader);

 private:
  enum class Step { kRecord, kEnd, kGap };
  // Leaves `position` at the next record, which may be in a later segment, and gives its size. kGap: records are
  // missing before it.
  Step FindRecord(Position* position, std::size_t* bytes) {
    const std::uint8_t* const end = segments_[position->segment].view.end;
    if (position->at < end) [[likely]] {
      *bytes = RingReader::RecordBytes(position->at, end);
      if (*bytes != 0) [[likely]]
        return Step::kRecord;
    }
    return FindRecordBehind(position, bytes);
  }
  Step FindRecordBehind(Position* position, std::size_t* bytes);
  static void StepOver(Position* position, std::size_t bytes) {
    position->at += bytes;
    position->record += 1;
  }
  bool ReadTensors(EventGroup* group, std::uint32_t announced, Position* position, std::uint64_t seen_record);

  std::vector<Segment> segments_;
  std::vector<const StackRecord*> skipped_stacks_;
  std::size_t consumed_segments_ = 0;
  Position position_;
  Position after_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_EVENT_GROUP_H_
