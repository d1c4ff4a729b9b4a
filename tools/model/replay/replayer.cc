#include "tools/model/replay/replayer.h"

#include <algorithm>

#include "tools/model/repeated_step_counts.h"
#include "tools/model/replay/handled_event.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxWaitingChunks = 8;  // bounds memory: after so many chunks, all waiting events are visited

bool Later(const ThreadReplay* a, const ThreadReplay* b) {
  if (a->NextTick() != b->NextTick()) return a->NextTick() > b->NextTick();
  return a->id() > b->id();
}

}  // namespace

Replayer::Replayer(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
                   const ReplayOptions& options, ReplayReport* report)
    : handlers_(processes, symbols, visitor, options, report),
      state_(handlers_),
      keyframes_(handlers_),
      records_(handlers_.shared),
      repeated_steps_(handlers_),
      skimmed_(handlers_.shared, handlers_.ranges) {
  visitor.OnStart(state_);
}

void Replayer::Take(const SourceItem& item) {
  switch (item.kind) {
    case SourceItem::Kind::kProcessBegin:
      return BeginProcess(item.process);
    case SourceItem::Kind::kChunk:
      return TakeChunks({&item.chunk, 1});
    case SourceItem::Kind::kLost:
      return PassLost(item.lost_chunks);
    case SourceItem::Kind::kEvicted:
      return PassEvicted();
    case SourceItem::Kind::kDamage:
      return PassDamage(item.damage);
    case SourceItem::Kind::kProcessEnd:
      return EndProcess();
  }
}

void Replayer::BeginProcess(std::size_t process) {
  context().BeginProcess(ProcessId{static_cast<std::uint32_t>(process)});
  keyframes_.BeginProcess();
  records_.BeginProcess();
  handlers_.shared.matching_blocks.Begin(HasRepeatedSteps(context().summary().info));
  handlers_.shared.visibility = {};
  context().visitor().OnProcessBegin(context().MakeEvent<ProcessEvent>(ThreadId(), context().now()));
}

void Replayer::EndProcess() {
  Drain(kForever);
  context().Cut();
  handlers_.ranges.CloseAll({}, context().now());
  handlers_.levels.EndProcess();
  SharedReplayState& shared = handlers_.shared;
  ReplayReport::Process& report = context().process_report();
  report.repeated_steps = shared.matching_blocks.step_counts();
  const std::uint64_t end = context().Nanoseconds(context().now());
  const std::uint64_t start = context().summary().start_ns;
  report.duration_ns = end > start ? end - start : 0;
  context().visitor().OnProcessEnd(context().MakeEvent<ProcessEvent>(ThreadId(), context().now()));
  shared.blocks.Clear();
  shared.memories.Clear();
  handlers_.driver.Clear();
  threads().Clear();
  shared.surrounding.Clear();
}

void Replayer::PassLost(std::uint64_t chunks) {
  Drain(kForever);
  context().Cut();
  keyframes_.NoteLoss();
  context().report().lost_chunks += chunks;
  auto event = context().MakeEvent<LostEvent>(ThreadId(), context().now());
  event.chunks = chunks;
  context().visitor().OnLost(event);
}

void Replayer::PassEvicted() {
  Drain(kForever);
  context().Cut();
  keyframes_.PassEvicted();
  records_.PassEvicted();
  handlers_.shared.matching_blocks.LeaveOutStep();
  threads().ForEach([](ThreadReplay& thread) { thread.modules().clear(); });
}

void Replayer::PassDamage(const Damage& damage) {
  Drain(kForever);
  context().Cut();
  keyframes_.NoteLoss();
  context().report().damage.push_back(damage);
}

void Replayer::TakeChunks(absl::Span<const std::shared_ptr<Chunk>> chunks) {
  for (const std::shared_ptr<Chunk>& chunk : chunks) {
    Define(*chunk);
    AddRuns(chunk);
  }
  repeated_steps_.Add(chunks, !keyframes_.awaited() && context().report().lost_records == 0);
  const Tick complete = chunks.back()->header.complete_until_tick;
  const bool wait = complete != 0 && ++waiting_chunks_ < kMaxWaitingChunks;
  Drain(wait ? complete : kForever, wait);
  if (AllVisited()) waiting_chunks_ = 0;
}

void Replayer::Define(const Chunk& chunk) {
  const Payload& payload = *chunk.payload;
  context().EnterChunk(chunk);
  if (chunk.part_begins) {
    Drain(kForever);  // waiting events use the numbers of the previous part
    context().ids().ForgetPart();
    repeated_steps_.ForgetPatterns();
  }
  context().ids().Define(payload);
  threads().NoteDefinitions();
  if (chunk.is_skimmed != skimmed_.skims()) {
    Drain(kForever);  // waiting events of earlier chunks are visited in the mode of their own chunk
    skimmed_.Switch(chunk.is_skimmed);
  }
  threads().ForgetTorchIds();
  if (payload.clock.tick() != 0) context().AddClockReading(payload.clock);
  if (!payload.keyframe.empty()) TakeKeyframe(chunk);
  ReplayReport::Process& process = context().process_report();
  if (payload.clock.tick() != 0) process.last_clock_ns = payload.clock.realtime_ns();
  if (payload.has_counters) process.counters = payload.counters;
  if (payload.has_end) process.end = payload.end;
  context().report().events += payload.events;
  keyframes_.NoteChunk();
}

void Replayer::TakeKeyframe(const Chunk& chunk) {
  const bool is_applied = keyframes_.IsApplied(chunk);
  // A comparison is only possible if all events before the keyframe are visited.
  if (!is_applied && !AllVisited()) return;
  const std::optional<v1::Keyframe> keyframe = keyframes_.Parse(chunk, is_applied);
  if (!keyframe) return;
  if (!is_applied) return keyframes_.Compare(*keyframe);
  Drain(kForever);
  keyframes_.Apply(*keyframe);
}

void Replayer::AddRuns(const std::shared_ptr<Chunk>& chunk) {
  handlers_.shared.tensors.Prepare(*chunk);
  for (const Run& run : chunk->payload->runs) {
    ThreadReplay& thread = threads().Of(context().ids().thread(run.thread));
    const bool was_idle = thread.runs.empty();
    records_.CountRun(thread, thread.runs.emplace_back(chunk, run));
    if (was_idle) Enqueue(thread);
  }
  records_.CountPatternRows(*chunk->payload);
}

void Replayer::Enqueue(ThreadReplay& thread) {
  heap_.push_back(&thread);
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

void Replayer::Drain(Tick until, bool may_wait) {
  waiting_ = may_wait ? kMayWait : kNever;
  while (waiting_ != kWaits) {
    const Tick next = heap_.empty() ? kForever : heap_.front()->NextTick();
    if (!repeated_steps_.empty() && repeated_steps_.NextTick() <= std::min(next, until)) {
      repeated_steps_.Show(std::min(next, until));
      continue;
    }
    if (heap_.empty() || next > until) return;
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    ThreadReplay* thread = heap_.back();
    heap_.pop_back();
    repeated_steps_.Interrupt();
    const Tick others = std::min(until, repeated_steps_.NextTick());
    RunThread(*thread, heap_.empty() ? others : std::min(others, heap_.front()->NextTick()));
    if (!thread->runs.empty()) Enqueue(*thread);
  }
}

void Replayer::RunThread(ThreadReplay& thread, Tick until) {
  while (!thread.runs.empty() && thread.runs.front().tick <= until) {
    RunCursor& cursor = thread.runs.front();
    const bool is_new = cursor.started || StartRun(thread, cursor);
    if (is_new && !ShowEvents(thread, cursor, until)) return;
    thread.runs.pop_front();
  }
}

bool Replayer::StartRun(ThreadReplay& thread, RunCursor& cursor) {
  cursor.started = true;
  const Run& run = cursor.run;
  if (cursor.was_shown) return false;
  if (cursor.lost_records > 0) {
    auto event = context().MakeEvent<LostEvent>(thread.id(), cursor.tick);
    event.records = cursor.lost_records;
    thread.modules().clear();  // the open module calls are unknown after a loss
    context().visitor().OnLost(event);
  }
  const bool skim = cursor.chunk->is_skimmed;
  handlers_.ranges.SetDepth(thread, skim ? 0 : run.start_depth, cursor.tick);
  handlers_.python.BeginWithStack(thread, skim ? StackId() : context().ids().stack(run.start_stack), cursor.tick);
  return true;
}

// The switch over the kinds of events is in the loop, because a separate function would not be inlined and would cost a
// call for each event. ParsePayload rejects kinds without a row in events.def.
bool Replayer::ShowEvents(ThreadReplay& thread, RunCursor& cursor, Tick until) {
  do {
    if (cursor.chunk->is_skimmed && cursor.tick <= until && IsSkipped(thread, cursor)) continue;
    if (cursor.tick > until || (waiting_ != kNever && thread.stack().empty() && WaitsForNode(thread, cursor)))
      return false;
    context().AdvanceToEvent(cursor.tick);
    switch (static_cast<HandledEvent>(cursor.kind())) {
#define MEMOIR_HANDLER(NAME, handler, Function, Skimmed, InPattern) \
  case HandledEvent::NAME:                                          \
    handlers_.handler.Function(thread, cursor);                     \
    break;
#include "tools/model/replay/replay_handlers.def"
    }
  } while (cursor.Advance());
  return true;
}

bool Replayer::WaitsForNode(const ThreadReplay& thread, const RunCursor& cursor) {
  if (!handlers_.shared.surrounding.LacksNode(thread, cursor, context().ids())) return false;
  waiting_ = kWaits;
  return true;
}

bool Replayer::IsSkipped(ThreadReplay& thread, RunCursor& cursor) {
  switch (static_cast<HandledEvent>(cursor.kind())) {
#define MEMOIR_HANDLER(NAME, handler, Function, Skimmed, InPattern) \
  case HandledEvent::NAME:                                          \
    return skimmed_.Skimmed(thread, cursor);
#include "tools/model/replay/replay_handlers.def"
  }
  return false;
}

}  // namespace memoir
