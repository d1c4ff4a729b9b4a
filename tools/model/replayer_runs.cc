// The part of a replay that takes what a chunk defines and its runs, and counts the records of each thread.
#include <algorithm>
#include <utility>

#include "tools/model/replayer.h"

namespace memoir {

void Replayer::Define(const Chunk& chunk) {
  const Payload& payload = *chunk.payload;
  damage_place_ = {*chunk.file, chunk.header.offset, ""};
  if (chunk.part_begins) {
    Drain(kForever);  // what waits still speaks in the numbers of the part before
    ids_->ForgetPart();
    stretches_.Clear();
  }
  ids_->Define(payload);
  if (chunk.memory_alone != skimming_) SwitchSkimming(chunk.memory_alone);
  torch_threads_.clear();  // more may be known of a thread now
  if (payload.clock.tick() != 0) clocks_[process_.value].Add(payload.clock);
  if (!payload.keyframe.empty()) TakeKeyframe(chunk);
  ReplayReport::Process& process = report_->processes[process_.value];
  if (payload.has_counters) process.counters = payload.counters;
  if (payload.has_end) process.end = payload.end;
  report_->events += payload.events;
  began_ = true;
}

void Replayer::AddRuns(const std::shared_ptr<Chunk>& chunk) {
  if (look_at_tensors_) chunk->tensor_is_known.resize(chunk->payload->tensors.size());
  for (const Run& run : chunk->payload->runs) {
    ThreadReplay& thread = ThreadOf(ids_->thread(run.thread));
    const bool was_idle = thread.runs.empty();
    CountRecords(thread, thread.runs.emplace_back(chunk, run));
    if (was_idle) Enqueue(thread);
  }
  CountRepeatedRecords(*chunk->payload);
}

// Runs of a thread stand in order, so its records are counted as they are read.
void Replayer::CountRecords(ThreadReplay& thread, RunCursor& cursor) {
  const Run& run = cursor.run;
  const std::uint64_t end = run.first_record + run.record_count;
  if (thread.next_record_known && run.first_record < thread.next_record && run.record_count != 0) {
    report_->repeated_records += std::min(end, thread.next_record) - run.first_record;
    cursor.was_shown = end <= thread.next_record;
    if (cursor.was_shown) return;
  }
  // A thread whose first runs are in parts that are gone has lost nothing that was not said already.
  const bool from_first = !passed_evicted_ && processes_[process_.value].starts_at_first_chunk;
  // Records in rows are counted from the run before: where that is gone, nobody knows how many of them are here.
  const bool known =
      run.repeated_before == 0 ? thread.next_record_known || from_first : thread.run_end_known || from_first;
  const std::uint64_t expected = std::max(thread.run_end + run.repeated_before, thread.next_record);
  if (known && run.first_record > expected) cursor.lost_records = run.first_record - expected;
  report_->lost_records += cursor.lost_records;
  thread.run_end = std::max(thread.run_end, end);
  thread.next_record = std::max(thread.next_record, end);
  thread.next_record_known = thread.run_end_known = true;
}

void Replayer::CountRepeatedRecords(const Payload& payload) {
  for (const v1::RepeatedRecords& records : payload.repeated_records) {
    ThreadReplay& thread = ThreadOf(ids_->thread(records.thread()));
    thread.next_record = std::max<std::uint64_t>(thread.next_record, records.end_record());
    thread.next_record_known = true;
  }
}

bool Replayer::StartRun(ThreadReplay& thread, RunCursor& cursor) {
  cursor.started = true;
  const Run& run = cursor.run;
  if (cursor.was_shown) return false;
  if (cursor.lost_records > 0) {
    auto event = MakeEvent<LostEvent>(process_, thread.id(), cursor.tick);
    event.records = cursor.lost_records;
    thread.modules().clear();  // which of them are still open, nobody knows
    visitor_.OnLost(event);
  }
  const bool skim = cursor.chunk->memory_alone;
  SetDepth(thread, skim ? 0 : run.start_depth, cursor.tick);
  ShowStack(thread, skim ? StackId() : ids_->stack(run.start_stack), cursor.tick, true);
  return true;
}

ThreadReplay& Replayer::AddThread(ThreadId id) {
  if (id.value >= threads_.size()) threads_.resize(id.value + 1);
  threads_[id.value] = std::make_unique<ThreadReplay>(id);
  return *threads_[id.value];
}

void Replayer::SayDamage(std::string what) {
  damage_place_.what = std::move(what);
  report_->damage.push_back(damage_place_);
}

}  // namespace memoir
