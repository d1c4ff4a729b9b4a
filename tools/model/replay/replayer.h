// Replays decoded chunks: merges the threads of each process by tick and passes each event to its handler, which
// maintains the state and calls the visitor (replay_handlers.h). Only Capture::Replay and tools/follow use it.
//
//     chunks ──► runs of threads ──┐
//            └─► pattern rows ─────┴─► next event by tick ──► handler ──► visitor
#ifndef TOOLS_MODEL_REPLAY_REPLAYER_H_
#define TOOLS_MODEL_REPLAY_REPLAYER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/capture.h"
#include "tools/model/parts/chunk_source.h"
#include "tools/model/replay/keyframes.h"
#include "tools/model/replay/record_counts.h"
#include "tools/model/replay/repeated_steps.h"
#include "tools/model/replay/replay_handlers.h"
#include "tools/model/replay/replayed_state.h"
#include "tools/model/replay/skimmed_events.h"

namespace memoir {

class Replayer {
 public:
  // All arguments but `options` must outlive this object.
  Replayer(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
           const ReplayOptions& options, ReplayReport* report);
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  // Takes the items of a ChunkSource, in their order.
  void Take(const SourceItem& item);
  // Takes consecutive chunks of one part together. Only the first may have a keyframe.
  void TakeChunks(absl::Span<const std::shared_ptr<Chunk>> chunks);

 private:
  void BeginProcess(std::size_t process);
  void EndProcess();
  void PassLost(std::uint64_t chunks);
  void PassEvicted();
  void PassDamage(const Damage& damage);
  void Define(const Chunk& chunk);
  void TakeKeyframe(const Chunk& chunk);
  void AddRuns(const std::shared_ptr<Chunk>& chunk);
  bool AllVisited() const { return heap_.empty() && repeated_steps_.empty(); }

  void Enqueue(ThreadReplay& thread);  // `thread` must have runs
  // Visits the events up to `until`, with all threads merged. If `may_wait` is true, stops at an event that needs the
  // next chunk (WaitsForNode).
  void Drain(Tick until, bool may_wait = false);
  void RunThread(ThreadReplay& thread, Tick until);
  // Returns false if earlier runs contained all records of the run, so that its events were visited before.
  bool StartRun(ThreadReplay& thread, RunCursor& cursor);
  // Visits the events of a run up to `until`. Returns true if the run is finished.
  bool ShowEvents(ThreadReplay& thread, RunCursor& cursor, Tick until);
  // Returns true, and sets `waiting_`, if the current event needs an event of the next chunk
  // (SurroundingRanges::LacksNode).
  bool WaitsForNode(const ThreadReplay& thread, const RunCursor& cursor);
  // Returns true if the current event, which must belong to a skimmed chunk, is not visited (skimmed_events.h).
  bool IsSkipped(ThreadReplay& thread, RunCursor& cursor);

  ReplayContext& context() { return handlers_.shared.context; }
  ReplayThreads& threads() { return handlers_.shared.threads; }

  ReplayHandlers handlers_;
  ReplayedState state_;
  Keyframes keyframes_;
  RecordCounts records_;
  RepeatedSteps repeated_steps_;
  SkimmedEvents skimmed_;
  std::vector<ThreadReplay*> heap_;                     // threads with runs, least tick first
  std::size_t waiting_chunks_ = 0;                      // chunks taken since all events were visited
  enum { kNever, kMayWait, kWaits } waiting_ = kNever;  // state of the current Drain
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_REPLAYER_H_
