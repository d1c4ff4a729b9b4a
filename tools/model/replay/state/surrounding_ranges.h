// The ranges of other threads that surround a thread which works for them (docs/event_schema.md, "Threads that work for
// others").
//
// Autograd runs the nodes of a GPU on a separate thread, while the thread that called backward waits. Events on the
// separate thread belong to the user range that is open on the thread of the forward pass. A thread of OpenMP works in
// the parallel region of another thread and is inside of all ranges that are open there.
#ifndef TOOLS_MODEL_REPLAY_STATE_SURROUNDING_RANGES_H_
#define TOOLS_MODEL_REPLAY_STATE_SURROUNDING_RANGES_H_

#include "tools/model/event/dictionary_ids.h"
#include "tools/model/replay/state/range_roles.h"
#include "tools/model/replay/state/replay_threads.h"

namespace memoir {

class SurroundingRanges {
 public:
  SurroundingRanges(const Dictionary& dictionary, ReplayThreads& threads, RangeRoles& roles)
      : dictionary_(dictionary), threads_(threads), roles_(roles) {}

  // Returns the base of a range or block that begins while the thread has no open range.
  RangeBase BaseOf(const ThreadReplay& thread) const;
  // Return the innermost user range of the base, or of the thread and its base. Invalid if no user range
  // surrounds them.
  NameId UserNameOf(const RangeBase& base) const;
  NameId UserNameOf(const ThreadReplay& thread) const;

  // Notes the forward thread of the node that `beginning` belongs to. `thread` has no open range.
  void NoteForwardThread(ThreadReplay& thread, const OpenRange& beginning);
  // Returns true if the engine's range begins, but the runs read so far lack the node inside of it. Unless records are
  // lost, the next chunk contains the node. `thread` has no open range.
  bool LacksNode(const ThreadReplay& thread, const RunCursor& cursor, const DictionaryIds& ids) {
    return cursor.kind() == v1::RANGE_BEGIN_FUNCTION && EngineLacksNode(thread, cursor, ids);
  }

  // Called when the process ends.
  void Clear() { last_forward_thread_ = ThreadId(); }

 private:
  bool EngineLacksNode(const ThreadReplay& thread, const RunCursor& cursor, const DictionaryIds& ids);
  RangeBase UserBaseOf(const ThreadReplay& thread) const;

  const Dictionary& dictionary_;
  ReplayThreads& threads_;
  RangeRoles& roles_;
  ThreadId last_forward_thread_;  // newest forward thread of a node on which a user range was open
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_SURROUNDING_RANGES_H_
