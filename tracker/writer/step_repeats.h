// Steps whose memory events are those of a step before: the chunk names that step's stretch instead of repeating them
// (capture.proto, StretchDef and Repeats).
//
//     step mark ─► event ─► event ─► event ─► event ─► step mark      as the writer packs them, threads merged
//        │           │        │        ╳ another one than in stretch 3: from here on a run, as without this
//        │           │        └ row: stretch 3, its first events
//        │           └ follows the stretch that came after that of the step before
//        └ a step that comes a second time is a stretch
//
// Host addresses are left out, for malloc gives others each time: a free says which event of which step allocated its
// block, and an address row gives the addresses of blocks that outlive the rows before it. Addresses on devices with a
// caching allocator repeat, and are compared.
//
// Bounded in stretches, events and blocks, about 40 MiB at the most; what has no room is packed one by one. One thread.
#ifndef TRACKER_WRITER_STEP_REPEATS_H_
#define TRACKER_WRITER_STEP_REPEATS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracker/writer/repeat_rows.h"
#include "tracker/writer/stretch.h"

namespace memoir {

class StepRepeats {
 public:
  static constexpr std::size_t kMostStretches = 16;
  static constexpr std::size_t kMostHostBlocks = 1u << 17;  // live ones that are followed
  static constexpr std::size_t kMostDeviceThreads = 1024;

  // What a stretch does not have of an event.
  struct Facts {
    std::uint64_t tick = 0;
    std::uint64_t host_address = 0;  // of a block on a device without a caching allocator
    std::uint64_t serial = 0;        // of a memory event
    std::uint64_t step_number = 0;   // of a step's mark
  };
  // A mark ends the step before, and is the first event of the next one.
  void StepBegins(std::uint32_t thread);
  // Whether the event is in a row; else it belongs into a run.
  bool Add(RepeatableEvent event, const Facts& facts);
  // An event beside the step is packed in a run: the row ends before it, so that its place is exact.
  void EndRow() { rows_.CloseRow(); }
  // An event that no stretch has: what follows in this step is packed in runs.
  void LeaveStep();
  // Gives the addresses of all that lives on, so that no chunk needs the one before.
  void GiveAddresses();

  // The stretch that an event was just added to, where this part has not defined it; nullptr: it has.
  KnownStretch* ToDefine(std::uint32_t part);
  const std::list<KnownStretch>& stretches() const { return stretches_; }
  // Forgets those with a stack that is not known any more.
  void ForgetWithout(const std::function<bool(std::uint32_t)>& knows_stack);

  const RepeatRows& rows() const { return rows_; }
  void Clear() { rows_.Clear(); }

 private:
  struct HostBlock {
    std::uint64_t step = 0;    // in which it was allocated
    std::uint64_t serial = 0;  // of that
    std::uint32_t event = 0;   // which of the step
    bool in_row = false;       // and no address row has given its address since
  };
  struct Place {
    std::uint32_t device;
    std::uint64_t address;
    bool operator==(const Place&) const = default;
  };
  struct HashPlace {
    std::size_t operator()(const Place& place) const {
      return static_cast<std::size_t>((place.address ^ place.device) * 0x9e3779b97f4a7c15u >> 16);
    }
  };
  struct Allocated {
    Place place;
    std::uint64_t step;
    std::uint32_t event;
  };

  bool IsOfStep(const RepeatableEvent& event) const {
    return event.thread == step_thread_ || device_threads_.contains(event.thread);
  }
  bool ResolveFree(const Place& place, RepeatableEvent* event) const;
  bool Follow(const RepeatableEvent& event);
  void AddToRow(const RepeatableEvent& event, const Facts& facts, bool was_in_row);
  void NoteBlock(const RepeatableEvent& event, const Facts& facts, bool in_row);
  void LeaveStretch();
  void EndStep();
  void Learn();
  bool LivesInRow(const Allocated& block) const;
  KnownStretch* Find(std::uint32_t id);

  // The current step.
  std::uint64_t step_ = 0;
  std::uint32_t step_thread_ = 0;
  bool can_repeat_ = false;              // it has only events that a stretch can have, so far
  KnownStretch* followed_ = nullptr;     // it begins as the step did
  std::uint64_t hash_ = 0;               // of the events so far
  std::uint32_t position_ = 0;           // how many they are
  std::vector<RepeatableEvent> events_;  // these, where no stretch is followed
  std::vector<std::uint64_t> ticks_;     // theirs
  std::uint32_t last_stretch_ = 0;       // of the step before; 0: none

  std::list<KnownStretch> stretches_;
  std::uint32_t last_id_ = 0;
  std::unordered_set<std::uint64_t> seen_once_;       // hashes of steps
  std::unordered_set<std::uint32_t> device_threads_;  // those on which a caching allocator was called
  std::unordered_map<Place, HostBlock, HashPlace> host_blocks_;
  std::vector<Allocated> in_rows_;  // in the order of their allocations; some are freed
  std::size_t look_again_at_ = 1u << 16;
  RepeatRows rows_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STEP_REPEATS_H_
