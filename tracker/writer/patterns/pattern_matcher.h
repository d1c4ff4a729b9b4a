// Finds steps whose memory events equal the events of an earlier step. The chunk then refers to the pattern of the
// earlier step, and does not repeat the events (StretchDef and Repeats in capture.proto).
//
//     step mark ─► event ─► event ─► event ─► event ─► step mark      in the writer's order, with threads merged
//        │           │        │        ╳ differs from pattern 3: from here on the events are in runs
//        │           │        └ pattern row: pattern 3, its first events
//        │           └ follows the pattern that came after the previous step's pattern the last time
//        └ a step that occurs a second time becomes a pattern
//
// Patterns do not contain host addresses, because malloc returns other addresses in each step. Instead, a free refers
// to the step and the event that allocated the block. If a block is still live when the pattern rows end, at the latest
// at the end of the chunk, a separate row lists its address: an address row. The caching allocator of a device returns
// the same addresses in each step, so patterns contain these addresses, and an event follows a pattern only if its
// address is the same.
//
// Patterns, events and blocks are bounded, to about 40 MiB. Events for which there is no room are added to runs. One
// thread.
#ifndef TRACKER_WRITER_PATTERNS_PATTERN_MATCHER_H_
#define TRACKER_WRITER_PATTERNS_PATTERN_MATCHER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracker/writer/patterns/pattern_rows.h"
#include "tracker/writer/patterns/step_pattern.h"

namespace memoir {

class PatternMatcher {
 public:
  static constexpr std::size_t kMostPatterns = 16;
  static constexpr std::size_t kMostHostBlocks = 1u << 17;  // live host blocks that are followed
  static constexpr std::size_t kMostDeviceThreads = 1024;

  // Fields of an event that a pattern does not contain.
  struct Facts {
    std::uint64_t tick = 0;
    std::uint64_t host_address = 0;  // address of a block on a device without a caching allocator; else 0
    std::uint64_t serial = 0;        // serial of a memory event
    std::uint64_t step_number = 0;   // number of the step that a mark begins
  };
  // Ends the current step, and begins the next one. The step mark, which `thread` has made, is the first event of the
  // next step.
  void BeginStep(std::uint32_t thread);
  // Returns true if the event was added to a pattern row; otherwise it must be added to a run.
  bool Add(PatternEvent event, const Facts& facts);
  // Ends the open row. Call it before an event is added to a run, so that readers know the order of the row and this
  // event.
  void EndRow() { rows_.CloseRow(); }
  // Call it for an event that no pattern can contain. The rest of this step is then added to runs.
  void LeaveStep();
  // Ends the open row, and adds an address row: the addresses of live host blocks whose allocations are only in pattern
  // rows. Call it at the end of each chunk, so that the next chunk can be read without this one.
  void AddAddressRow();

  // Returns the pattern that the current step follows, if this part has not defined the pattern; otherwise nullptr.
  StepPattern* UndefinedPattern(std::uint32_t part);
  const std::list<StepPattern>& patterns() const { return patterns_; }
  // Forgets the patterns that contain a stack for which `knows_stack` returns false.
  void ForgetPatternsWithout(const std::function<bool(std::uint32_t)>& knows_stack);

  const PatternRows& rows() const { return rows_; }
  void Clear() { rows_.Clear(); }

 private:
  struct HostBlock {
    std::uint64_t step = 0;    // step in which the block was allocated
    std::uint64_t serial = 0;  // serial of the allocation
    std::uint32_t event = 0;   // index of the allocation among the events of its step
    bool in_row = false;       // allocated in a pattern row, and not listed in a later address row
  };
  struct HostAddress {
    std::uint32_t device;
    std::uint64_t address;
    bool operator==(const HostAddress&) const = default;
  };
  struct HashHostAddress {
    std::size_t operator()(const HostAddress& place) const {
      return static_cast<std::size_t>((place.address ^ place.device) * 0x9e3779b97f4a7c15u >> 16);
    }
  };
  // A host block that was allocated in a pattern row: its address, and the step and the index of the allocation.
  struct RowBlock {
    HostAddress place;
    std::uint64_t step;
    std::uint32_t event;
  };

  bool BelongsToStep(const PatternEvent& event) const {
    return event.thread == step_thread_ || device_threads_.contains(event.thread);
  }
  bool ResolveFree(const HostAddress& place, PatternEvent* event) const;
  bool Follow(const PatternEvent& event);
  void AddToRow(const PatternEvent& event, const Facts& facts, bool was_in_row);
  void NoteBlock(const PatternEvent& event, const Facts& facts, bool in_row);
  void LeavePattern();
  void EndStep();
  void LearnPattern();
  bool IsLiveInRow(const RowBlock& block) const;
  StepPattern* FindPattern(std::uint32_t id);

  // Members about the current step:
  std::uint64_t step_ = 0;
  std::uint32_t step_thread_ = 0;
  bool can_repeat_ = false;           // true if a pattern can contain all events of the step so far
  StepPattern* followed_ = nullptr;   // pattern whose first events equal the events so far; nullptr: none
  std::uint64_t hash_ = 0;            // hash of the events so far
  std::uint32_t position_ = 0;        // number of events so far
  std::vector<PatternEvent> events_;  // the events so far, if no pattern is followed
  std::vector<std::uint64_t> ticks_;  // ticks of the events so far
  std::uint32_t last_pattern_ = 0;    // id of the previous step's pattern; 0: none

  std::list<StepPattern> patterns_;
  std::uint32_t last_id_ = 0;
  std::unordered_set<std::uint64_t> seen_once_;       // hashes of steps that occurred once
  std::unordered_set<std::uint32_t> device_threads_;  // threads on which a caching allocator was called
  std::unordered_map<HostAddress, HostBlock, HashHostAddress> host_blocks_;
  std::vector<RowBlock> in_rows_;             // in the order of their allocations; some blocks may be freed already
  std::size_t next_cleanup_size_ = 1u << 16;  // size of in_rows_ at which freed blocks are removed from it
  PatternRows rows_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PATTERNS_PATTERN_MATCHER_H_
