// The context of a replay: its visitor, options and report, the dictionary and the clocks, and the process and the tick
// that the replay has reached. All handlers use one ReplayContext. Not thread-safe.
#ifndef TOOLS_MODEL_REPLAY_STATE_REPLAY_CONTEXT_H_
#define TOOLS_MODEL_REPLAY_STATE_REPLAY_CONTEXT_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tools/model/capture.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/dictionary_ids.h"
#include "tools/model/event/event.h"
#include "tools/model/event/tick_clock.h"
#include "tools/model/parts/chunk_source.h"

namespace memoir {

inline constexpr Tick kForever = std::numeric_limits<Tick>::max();

class ReplayContext {
 public:
  // All arguments but `options` must outlive this object.
  ReplayContext(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
                const ReplayOptions& options, ReplayReport* report);
  ReplayContext(const ReplayContext&) = delete;
  ReplayContext& operator=(const ReplayContext&) = delete;

  Visitor& visitor() const { return visitor_; }
  const ReplayOptions& options() const { return options_; }
  ReplayReport& report() const { return report_; }
  const Dictionary& dictionary() const { return dictionary_; }

  // Begins a process, at its first tick.
  void BeginProcess(ProcessId process);
  const ProcessSummary& summary() const { return processes_[process_.value]; }
  ReplayReport::Process& process_report() const { return report_.processes[process_.value]; }
  DictionaryIds& ids() { return *ids_; }  // ids of the current process

  // Return the time since the start of the capture's earliest process, at a tick of `process` or of the current
  // process.
  std::uint64_t Nanoseconds(ProcessId process, Tick tick) const { return clocks_[process.value].Nanoseconds(tick); }
  std::uint64_t Nanoseconds(Tick tick) const { return Nanoseconds(process_, tick); }
  void AddClockReading(const v1::ClockSync& reading) { clocks_[process_.value].Add(reading); }

  Tick now() const { return now_; }  // latest visited tick
  void AdvanceTo(Tick tick) { now_ = std::max(now_, tick); }
  // Advances to an event that is visited. Counts the event if a later event was visited before it.
  void AdvanceToEvent(Tick tick) {
    if (tick < now_) ++report_.late_events;
    AdvanceTo(tick);
  }

  template <class EventType>
  EventType MakeEvent(ThreadId thread, Tick tick) const {
    EventType event;
    event.process = process_;
    event.thread = thread;
    event.tick = tick;
    return event;
  }
  void Cut() const { visitor_.OnCut(MakeEvent<CutEvent>(ThreadId(), now_)); }

  // ReportDamage reports damage of the chunk that was entered last.
  void EnterChunk(const Chunk& chunk) { damage_place_ = {*chunk.file, chunk.header.offset, ""}; }
  void ReportDamage(std::string what);

 private:
  const std::vector<ProcessSummary>& processes_;
  const Symbols& symbols_;
  Visitor& visitor_;
  const ReplayOptions options_;
  ReplayReport& report_;
  Dictionary dictionary_;
  std::vector<TickClock> clocks_;  // by ProcessId
  ProcessId process_;
  std::optional<DictionaryIds> ids_;
  Tick now_ = 0;
  Damage damage_place_;  // file and offset of the current chunk
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_REPLAY_CONTEXT_H_
