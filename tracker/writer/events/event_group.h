// Decodes bytes of the ring into events. An event and its tensor records form a group, which may lie in several ring
// extents.
//
// Checks all lengths against the bounds of the ring extent, because memoir-drain reads rings of dead processes. Copies
// nothing: a group refers to bytes in the ring, and is valid until its ring extents are released. One thread.
#ifndef TRACKER_WRITER_EVENTS_EVENT_GROUP_H_
#define TRACKER_WRITER_EVENTS_EVENT_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/records/ring_record.h"
#include "interpose/ring/ring_reader.h"

namespace memoir {

// The value of `seen_record` below if missing records will never appear in the ring, because no thread writes records
// any more, or if the writer has stopped waiting for them.
inline constexpr std::uint64_t kAllSeen = ~std::uint64_t{0};

// An event and its tensor records.
struct EventGroup {
  RecordKind kind = RecordKind::kNone;
  const RecordHeader* header = nullptr;  // points to the record, whose struct depends on `kind`
  std::uint64_t tick = 0;
  std::uint64_t first_record = 0;  // index of the event's record on its thread
  std::uint64_t records = 0;       // number of records: the event and its tensors
  std::string_view kinds;          // one letter for the kind of each argument, result or held tensor: 'T' is a tensor
  const std::uint32_t* list_lengths = nullptr;
  std::uint32_t list_count = 0;
  std::string_view text;                     // free-text name of a range, text of a mark, or names of held tensors
  std::vector<const TensorRecord*> tensors;  // fewer than the event announces if some were lost

  template <typename Record>
  const Record& As() const {
    return *reinterpret_cast<const Record*>(header);
  }
};

// Fills the tick, the kinds, the lists and the text of `group` from the record at `group->header`, whose kind is
// `group->kind`. Returns the number of tensor records that belong to the event.
std::uint32_t ReadEvent(EventGroup* group);

// Reads the records of one thread that are not consumed yet, in one ring extent after the other.
class ThreadRecords {
 public:
  struct Extent {
    RingExtentView view;
    std::uint64_t end_record;  // index after the extent's last record; known once the position is beyond it
  };
  // The place of the next record.
  struct Position {
    std::size_t segment = 0;
    const std::uint8_t* at = nullptr;
    std::uint64_t record = 0;
  };
  enum class PeekResult {
    kGroup,       // *group is filled
    kNothing,     // no record is left
    kIncomplete,  // the group's last records are not in the ring yet; *group has the event's tick
    kUnclear,     // tensor records whose event was lost, or is not visible to this scan
  };

  // `views`: the ring extents of one thread, in order. Records before `next_record` are skipped, because they were
  // already added to a chunk.
  void Reset(const RingExtentView* views, std::size_t count, std::uint64_t next_record);

  // Returns the stack records that Reset skipped. They determine the thread's Python stack at the first record that is
  // not skipped.
  const std::vector<const StackRecord*>& skipped_stacks() const { return skipped_stacks_; }

  // Reads the group at the position, without advancing. Skips damaged and dropped records, and tensors whose event was
  // lost. A record may seem to be missing although it exists, because a scan reads one ring extent after the other
  // while threads add records. So a gap inside of a group counts as a loss only if the index of the record after the
  // gap is less than `seen_record`: this record was visible in an earlier scan.
  PeekResult Peek(EventGroup* group, std::uint64_t seen_record);
  // Advances past the group that Peek found.
  void Advance() { position_ = after_; }

  // Returns the index after the last record that is visible now.
  std::uint64_t LastVisibleRecord() const;

  // Consumes all records before the position, in the ring of `reader`. Call it after these records are written.
  void ConsumeUpToPosition(RingReader& reader);

 private:
  enum class Step { kRecord, kEnd, kGap };
  // Sets *position to the next record, which may be in a later ring extent, and *bytes to the size of this record.
  // kGap: records directly before the next record are missing. kEnd: there is no next record.
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

  std::vector<Extent> segments_;
  std::vector<const StackRecord*> skipped_stacks_;
  std::size_t consumed_segments_ = 0;
  Position position_;
  Position after_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_EVENTS_EVENT_GROUP_H_
