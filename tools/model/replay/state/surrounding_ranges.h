// Finds the open ranges of other threads that surround the events of a thread which works for these threads
// (docs/event_schema.md, "Threads that work for others").
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

  // Returns the ranges that surround an event of `thread` if the thread itself has no open range. Empty (depth 0) if it
  // has one.
  RangeBase BaseOf(const ThreadReplay& thread) const;
  // Return the name of the innermost user range of `base`, or of `thread` and its base. Invalid if there is no user
  // range.
  NameId UserNameOf(const RangeBase& base) const;
  NameId UserNameOf(const ThreadReplay& thread) const;

  // Call this function when the range `beginning` begins and `thread` has no open range. If the range is an autograd
  // node or the autograd engine's range around a node, stores the thread of the node's forward operator.
  void NoteForwardThread(ThreadReplay& thread, const OpenRange& beginning);
  // Returns true if the current event begins the autograd engine's range around a node, but the runs read so far lack
  // the node. Unless records are lost, the next chunk contains the node. `thread` has no open range.
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
  // The thread of the forward operator of the newest node, among the nodes for which this thread had an open user
  // range.
  ThreadId last_forward_thread_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_SURROUNDING_RANGES_H_
