// Packs the events of repeated steps as pattern rows (pattern_matcher.h). Owns the patterns, and the rows of the chunk.
// One thread.
#ifndef TRACKER_WRITER_PACK_ROW_PACKER_H_
#define TRACKER_WRITER_PACK_ROW_PACKER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/pack/block_packer.h"
#include "tracker/writer/pack/python_packer.h"
#include "tracker/writer/pack/shared_pack_state.h"
#include "tracker/writer/patterns/pattern_matcher.h"

namespace memoir {

// The result of an attempt to add an event to a pattern row. kNotInRow: the event must be added to a run.
// kNeedsNoEvent: the records of the event were counted, and the capture needs no event for them.
enum class RowResult : std::uint8_t { kNotInRow, kInRow, kNeedsNoEvent };

class RowPacker {
 public:
  RowPacker(SharedPackState& shared, BlockPacker& blocks, PythonPacker& python)
      : shared_(shared), blocks_(blocks), python_(python) {}

  // The functions in the last column of packers.def. LeaveStep and EndRow are for events that no pattern can contain.
  // After LeaveStep, the rest of the step is added to runs; after EndRow, later events of the step may be in a row
  // again.
  RowResult LeaveStep(ThreadState& thread, const EventGroup& group);
  RowResult EndRow(ThreadState& thread, const EventGroup& group);
  RowResult AddStep(ThreadState& thread, const EventGroup& group);
  RowResult AddStack(ThreadState& thread, const EventGroup& group);
  RowResult AddAllocate(ThreadState& thread, const EventGroup& group);
  RowResult AddBlock(ThreadState& thread, const EventGroup& group);
  RowResult AddDeallocate(ThreadState& thread, const EventGroup& group);
  RowResult AddFreeCompleted(ThreadState& thread, const EventGroup& group);

  // Call it for each event that is added to a run.
  void NoteInRun(std::uint64_t tick) { last_run_tick_ = std::max(last_run_tick_, tick); }
  // Call it when another part begins. Forgets the patterns that contain a stack which is no longer known.
  void BeginPart();

  const std::list<StepPattern>& patterns() const { return patterns_.patterns(); }
  bool empty() const { return repeating_.empty(); }
  std::size_t bytes() const { return patterns_.rows().bytes(); }

  // Ends the rows of the chunk (PatternMatcher::AddAddressRow). Call it before AddTo.
  void AddAddressRow() { patterns_.AddAddressRow(); }
  void AddTo(std::string* payload) const;
  void Clear();

 private:
  // Returns true if a pattern row may contain the event. For an event inside of ranges or after a loss, calls
  // PatternMatcher::LeaveStep and returns false.
  bool CanBeInRow(const ThreadState& thread, const EventGroup& group);
  bool PutInRow(const EventGroup& group, const PatternEvent& event, PatternMatcher::Facts facts);
  RowResult AddFree(ThreadState& thread, const EventGroup& group, bool is_completed);
  RowResult SkipStack(ThreadState& thread, const EventGroup& group);
  RowResult CountInRow(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before);
  void NoteRepeated(ThreadState& thread, const EventGroup& group, std::uint32_t stack_before);
  void DefinePattern(StepPattern* pattern);
  void AddRepeatedRecords(std::string* payload) const;

  SharedPackState& shared_;
  BlockPacker& blocks_;
  PythonPacker& python_;
  PatternMatcher patterns_;
  // Key: a thread with records in pattern rows of this chunk. Value: the thread's stack before these records.
  std::map<std::uint32_t, std::uint32_t> repeating_;
  std::uint64_t last_run_tick_ = 0;  // the newest tick of an event in a run
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_ROW_PACKER_H_
