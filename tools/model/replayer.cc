#include "tools/model/replayer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memoir {
namespace {

constexpr Tick kForever = std::numeric_limits<Tick>::max();
constexpr std::size_t kMaxWaitingChunks = 8;   // then what is held back is shown, so that memory stays bounded

bool Later(const ThreadReplay* a, const ThreadReplay* b) {
  if (a->NextTick() != b->NextTick()) return a->NextTick() > b->NextTick();
  return a->id() > b->id();
}

template <class EventType>
EventType Make(ProcessId process, ThreadId thread, Tick tick) {
  EventType event;
  event.process = process;
  event.thread = thread;
  event.tick = tick;
  return event;
}

}  // namespace

Replayer::Replayer(const std::vector<ProcessSummary>& processes, Visitor& visitor, const ReplayOptions& options,
                   ReplayReport* report)
    : processes_(processes), visitor_(visitor), options_(options), report_(report),
      look_at_tensors_(options.tensors || options.first_seen), blocks_(report) {
  for (const ProcessSummary& process : processes) clocks_.emplace_back(process.info, process.start_ns);
  report_->processes.resize(processes.size());
  visitor_.OnStart(*this);
}

std::uint64_t Replayer::Nanoseconds(ProcessId process, Tick tick) const { return clocks_[process.value].Nanoseconds(tick); }

void Replayer::ForEachLiveBlock(const std::function<void(const Block&)>& function) const {
  blocks_.live().ForEach(function);
}

const RangeStack& Replayer::stack(ThreadId thread) const {
  static const RangeStack empty;
  if (thread.value >= threads_.size() || threads_[thread.value] == nullptr) return empty;
  return threads_[thread.value]->stack();
}

void Replayer::Take(SourceItem& item) {
  switch (item.kind) {
    case SourceItem::Kind::kProcessBegin:
      return BeginProcess(item.process);
    case SourceItem::Kind::kChunk:
      return TakeChunk(item.chunk);
    case SourceItem::Kind::kLost: {
      Drain(kForever);
      resync_ = true;
      report_->lost_chunks += item.lost_chunks;
      auto event = Make<LostEvent>(process_, ThreadId(), now_);
      event.chunks = item.lost_chunks;
      return visitor_.OnLost(event);
    }
    case SourceItem::Kind::kDamage:
      Drain(kForever);
      resync_ = true;
      report_->damage.push_back(std::move(item.damage));
      return;
    case SourceItem::Kind::kProcessEnd:
      return EndProcess();
  }
}

void Replayer::BeginProcess(std::size_t process) {
  process_ = ProcessId{static_cast<std::uint32_t>(process)};
  ids_.emplace(process_, &dictionary_);
  now_ = processes_[process].first_tick;
  began_ = resync_ = false;
  visitor_.OnProcessBegin(Make<ProcessEvent>(process_, ThreadId(), now_));
}

void Replayer::EndProcess() {
  Drain(kForever);
  const std::uint64_t end = Nanoseconds(process_, now_);
  const std::uint64_t start = processes_[process_.value].start_ns;
  report_->processes[process_.value].duration_ns = end > start ? end - start : 0;
  visitor_.OnProcessEnd(Make<ProcessEvent>(process_, ThreadId(), now_));
  blocks_.Clear();
  for (std::unique_ptr<ThreadReplay>& thread : threads_) thread.reset();
}

void Replayer::TakeChunk(const std::shared_ptr<Chunk>& chunk) {
  const Payload& payload = chunk->payload;
  ids_->Define(payload);
  if (payload.clock.tick() != 0) clocks_[process_.value].Add(payload.clock);
  if (!payload.keyframe.empty()) TakeKeyframe(*chunk);
  ReplayReport::Process& process = report_->processes[process_.value];
  if (payload.has_counters) process.counters = payload.counters;
  if (payload.has_end) process.end = payload.end;
  report_->events += payload.events;
  began_ = true;
  AddRuns(chunk);
  const Tick complete = chunk->header.complete_until_tick;
  const bool wait = complete != 0 && ++waiting_chunks_ < kMaxWaitingChunks;
  Drain(wait ? complete : kForever);
  if (heap_.empty()) waiting_chunks_ = 0;
}

void Replayer::TakeKeyframe(const Chunk& chunk) {
  const bool apply = resync_ || (!began_ && chunk.header.sequence != 0);
  if (!apply && !heap_.empty()) return;   // its state is between events that are not shown yet
  v1::Keyframe keyframe;
  const KeyframeParts parts = apply ? KeyframeParts::kAll : KeyframeParts::kDevices;
  if (const absl::Status parsed = ParseKeyframe(chunk.payload.keyframe, parts, &keyframe); !parsed.ok()) {
    return SayDamage(std::string(parsed.message()));
  }
  if (!apply) return CompareKeyframe(keyframe);
  Drain(kForever);
  ApplyKeyframe(keyframe);
  resync_ = false;
}

void Replayer::CompareKeyframe(const v1::Keyframe& keyframe) {
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    if (totals.live_bytes() == blocks_.live().bytes(ids_->device(totals.device()))) continue;
    ++report_->keyframe_mismatches;
    return;
  }
}

void Replayer::ApplyKeyframe(const v1::Keyframe& keyframe) {
  now_ = std::max(now_, keyframe.tick());
  ApplyOpenRanges(keyframe);
  ApplyLiveBlocks(keyframe);
  auto event = Make<KeyframeEvent>(process_, ThreadId(), keyframe.tick());
  event.keyframe = &keyframe;
  event.at_start = !began_;
  event.name_of = [this](std::uint32_t number) { return ids_->name(number).id; };
  event.device_of = [this](std::uint32_t number) { return ids_->device(number); };
  visitor_.OnKeyframe(event);
}

void Replayer::ApplyLiveBlocks(const v1::Keyframe& keyframe) {
  const v1::LiveBlocks& live = keyframe.live();
  const int count = live.address_delta_size();
  const bool match = live.bytes_size() == count && live.serial_delta_size() == count && live.tick_delta_size() == count &&
                     live.thread_size() == count && live.operator_name_size() == count && live.leaf_name_size() == count &&
                     (live.device_size() == 0 || live.device_size() == count);
  if (!match) return SayDamage("columns of a keyframe do not match");
  std::vector<Block> wanted;
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, std::uint64_t> serials;
  Block block;
  block.origin = BlockOrigin::kKeyframe;
  for (int i = 0; i < count; ++i) {
    block.address += static_cast<std::uint64_t>(live.address_delta(i));
    block.serial += static_cast<std::uint64_t>(live.serial_delta(i));
    block.tick += static_cast<std::uint64_t>(live.tick_delta(i));
    block.bytes = live.bytes(i);
    block.device = ids_->device(live.device_size() == 0 ? 0 : live.device(i));
    block.thread = live.thread(i) == 0 ? ThreadId() : ids_->thread(live.thread(i));
    block.operator_name = ids_->name(live.operator_name(i)).id;
    block.leaf_name = ids_->name(live.leaf_name(i)).id;
    serials[{block.device, block.address}] = block.serial;
    const Block* there = blocks_.live().Find(block.device, block.address);
    if (there == nullptr || there->serial != block.serial) wanted.push_back(block);
  }
  std::vector<const Block*> gone;   // closing moves no block
  blocks_.live().ForEach([&](const Block& there) {
    const auto known = serials.find({there.device, there.address});
    if (known == serials.end() || known->second != there.serial) gone.push_back(&there);
  });
  for (const Block* there : gone) Close(*there, ThreadId(), keyframe.tick(), DeallocateCause::kResync);
  for (const Block& missing : wanted) {
    if (blocks_.live().Find(missing.device, missing.address) == nullptr) Open(missing, nullptr, keyframe.tick());
  }
}

void Replayer::ApplyOpenRanges(const v1::Keyframe& keyframe) {
  for (const v1::OpenRanges& open : keyframe.open()) {
    const std::size_t depth = open.kind().size();
    if (static_cast<std::size_t>(open.name_size()) != depth || static_cast<std::size_t>(open.begin_tick_size()) != depth ||
        depth > ThreadReplay::kMaxDepth) {
      return SayDamage("open ranges of a keyframe do not match");
    }
    ThreadReplay& thread = ThreadOf(ids_->thread(open.thread()));
    const auto same = [&](std::size_t at) { return thread.stack()[at].name == ids_->name(open.name(static_cast<int>(at))).id; };
    std::size_t keep = 0;
    while (keep < depth && keep < thread.stack().size() && same(keep)) ++keep;
    SetDepth(thread, keep, keyframe.tick());
    for (std::size_t at = keep; at < depth; ++at) {
      const NameEntry name = ids_->name(open.name(static_cast<int>(at)));
      OpenRange range;
      range.name = name.id;
      range.is_operator = name.is_operator;
      const int source = open.kind()[at] - v1::RANGE_BEGIN_FUNCTION;
      range.source = source >= 0 && source <= 3 ? static_cast<RangeSource>(source) : RangeSource::kFunction;
      range.begin = open.begin_tick(static_cast<int>(at));
      auto event = Make<RangeBeginEvent>(process_, thread.id(), range.begin);
      event.before = true;
      PushRange(thread, range, event);
    }
  }
}

void Replayer::AddRuns(const std::shared_ptr<Chunk>& chunk) {
  if (look_at_tensors_) chunk->tensor_is_known.resize(chunk->payload.tensors.size());
  for (const Run& run : chunk->payload.runs) {
    ThreadReplay& thread = ThreadOf(ids_->thread(run.thread));
    const bool was_idle = thread.runs.empty();
    thread.runs.emplace_back(chunk, run);
    if (was_idle) {
      heap_.push_back(&thread);
      std::push_heap(heap_.begin(), heap_.end(), Later);
    }
  }
}

void Replayer::Drain(Tick until) {
  while (!heap_.empty() && heap_.front()->NextTick() <= until) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    ThreadReplay* thread = heap_.back();
    heap_.pop_back();
    RunThread(*thread, heap_.empty() ? until : std::min(until, heap_.front()->NextTick()));
    if (thread->runs.empty()) continue;
    heap_.push_back(thread);
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
}

void Replayer::RunThread(ThreadReplay& thread, Tick until) {
  while (!thread.runs.empty() && thread.runs.front().tick <= until) {
    RunCursor& cursor = thread.runs.front();
    if (!cursor.started) StartRun(thread, cursor);
    if (!ShowEvents(thread, cursor, until)) return;
    thread.runs.pop_front();
  }
}

void Replayer::StartRun(ThreadReplay& thread, RunCursor& cursor) {
  cursor.started = true;
  const Run& run = cursor.run;
  // A thread whose first runs are in parts that are gone has lost nothing that was not said already.
  const bool known = thread.next_record_known || processes_[process_.value].starts_at_first_chunk;
  if (known && run.first_record > thread.next_record) {
    auto event = Make<LostEvent>(process_, thread.id(), cursor.tick);
    event.records = run.first_record - thread.next_record;
    report_->lost_records += event.records;
    visitor_.OnLost(event);
  }
  thread.next_record = std::max(thread.next_record, run.first_record + run.record_count);
  thread.next_record_known = true;
  SetDepth(thread, run.start_depth, cursor.tick);
}

void Replayer::SetDepth(ThreadReplay& thread, std::size_t depth, Tick tick) {
  while (thread.stack().size() > depth) PopRange(thread, tick, SignatureId(), true);
  while (thread.stack().size() < std::min(depth, ThreadReplay::kMaxDepth)) {
    OpenRange unknown;
    unknown.begin = tick;
    auto event = Make<RangeBeginEvent>(process_, thread.id(), tick);
    event.before = true;
    PushRange(thread, unknown, event);
  }
}

bool Replayer::ShowEvents(ThreadReplay& thread, RunCursor& cursor, Tick until) {
  do {
    if (cursor.tick > until) return false;
    if (cursor.tick < now_) ++report_->late_events;
    now_ = std::max(now_, cursor.tick);
    switch (cursor.kind()) {
      case v1::RANGE_BEGIN_FUNCTION: ShowRangeBegin(thread, cursor, RangeSource::kFunction); break;
      case v1::RANGE_BEGIN_BACKWARD: ShowRangeBegin(thread, cursor, RangeSource::kBackward); break;
      case v1::RANGE_BEGIN_USER: ShowRangeBegin(thread, cursor, RangeSource::kUser); break;
      case v1::RANGE_BEGIN_DISPATCH: ShowRangeBegin(thread, cursor, RangeSource::kDispatch); break;
      case v1::RANGE_END: ShowRangeEnd(thread, cursor); break;
      case v1::ALLOCATE: ShowAllocate(thread, cursor); break;
      case v1::DEALLOCATE: ShowDeallocate(thread, cursor); break;
      case v1::MARK: {
        auto event = Make<MarkEvent>(process_, thread.id(), cursor.tick);
        event.name = ids_->name(cursor.run.mark_name.Next32()).id;
        visitor_.OnMark(event);
        break;
      }
      case v1::STEP: {
        auto event = Make<StepEvent>(process_, thread.id(), cursor.tick);
        event.step = cursor.run.step.Next();
        visitor_.OnStep(event);
        break;
      }
      default: break;   // ParsePayload lets no other kind through
    }
  } while (cursor.Advance());
  return true;
}

void Replayer::ShowRangeBegin(ThreadReplay& thread, RunCursor& cursor, RangeSource source) {
  Run& run = cursor.run;
  const NameEntry name = ids_->name(run.name.Next32());
  cursor.sequence = static_cast<std::int64_t>(static_cast<std::uint64_t>(cursor.sequence) +
                                              static_cast<std::uint64_t>(ZigZag(run.sequence_delta.Next())));
  OpenRange range;
  range.name = name.id;
  range.is_operator = name.is_operator;
  range.source = source;
  range.begin = cursor.tick;
  range.sequence = cursor.sequence;
  if (source == RangeSource::kBackward) range.forward_thread = run.forward_thread.Next();
  const SignatureEntry signature = ids_->signature(run.signature.Next32());
  TakeTensors(cursor, signature.tensors);
  auto event = Make<RangeBeginEvent>(process_, thread.id(), cursor.tick);
  event.signature = signature.id;
  event.tensors = tensors_;
  PushRange(thread, range, event);
  ShowFirstSeen(thread, cursor, false);
}

void Replayer::PushRange(ThreadReplay& thread, OpenRange range, const RangeBeginEvent& like) {
  range.call = ++calls_;
  RangeBeginEvent event = like;
  event.range = thread.Push(range);
  if (event.range == nullptr) return;
  event.stack = &thread.stack();
  visitor_.OnRangeBegin(event);
}

void Replayer::ShowRangeEnd(ThreadReplay& thread, RunCursor& cursor) {
  const SignatureEntry signature = ids_->signature(cursor.run.signature.Next32());
  TakeTensors(cursor, signature.tensors);
  if (!thread.CanPop()) return;
  ShowFirstSeen(thread, cursor, true);
  PopRange(thread, cursor.tick, signature.id, false);
}

void Replayer::PopRange(ThreadReplay& thread, Tick tick, SignatureId signature, bool implicit) {
  auto event = Make<RangeEndEvent>(process_, thread.id(), tick);
  event.range = thread.innermost();
  event.stack = &thread.stack();
  event.signature = signature;
  event.implicit = implicit;
  if (!implicit) event.tensors = tensors_;
  visitor_.OnRangeEnd(event);
  thread.Pop();
}

void Replayer::TakeTensors(RunCursor& cursor, std::uint32_t count) {
  if (!look_at_tensors_) return;
  tensor_rows_.clear();
  for (std::uint32_t i = 0; i < count; ++i) tensor_rows_.push_back(cursor.run.tensor.Next32());
  tensors_.clear();
  if (!options_.tensors) return;
  const std::vector<TensorRow>& table = cursor.chunk->payload.tensors;
  for (const std::uint32_t reference : tensor_rows_) {
    Tensor& tensor = tensors_.emplace_back();
    if (reference == 0 || reference > table.size()) continue;
    const TensorRow& row = table[reference - 1];
    tensor = {row.impl, row.storage, row.storage_bytes, ids_->layout(row.layout), ids_->device(row.device)};
  }
}

void Replayer::ShowFirstSeen(ThreadReplay& thread, RunCursor& cursor, bool as_result) {
  if (!options_.first_seen) return;
  std::vector<bool>& known = cursor.chunk->tensor_is_known;
  for (const std::uint32_t reference : tensor_rows_) {
    // One look per row of the table is enough: a storage stays where it is while tensors show it.
    if (reference == 0 || reference > known.size() || known[reference - 1]) continue;
    known[reference - 1] = true;
    const TensorRow& row = cursor.chunk->payload.tensors[reference - 1];
    const Tensor tensor{row.impl, row.storage, row.storage_bytes, ids_->layout(row.layout), ids_->device(row.device)};
    if (!blocks_.IsFirstSeen(tensor)) continue;
    auto event = Make<FirstSeenEvent>(process_, thread.id(), cursor.tick);
    event.tensor = &tensor;
    event.range = thread.innermost();
    event.as_result = as_result;
    visitor_.OnFirstSeen(event);
  }
}

void Replayer::ShowAllocate(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  Block block;
  block.address = cursor.address += static_cast<std::uint64_t>(ZigZag(run.address_delta.Next()));
  block.serial = cursor.serial += static_cast<std::uint64_t>(ZigZag(run.serial_delta.Next()));
  block.device = ids_->device(cursor.has_device ? run.device.Next32() : 0);
  block.bytes = run.bytes.Next();
  block.tick = cursor.tick;
  block.thread = thread.id();
  if (const OpenRange* range = thread.outermost_operator()) {
    block.operator_name = range->name;
    block.operator_call = range->call;
  }
  if (const OpenRange* range = thread.innermost()) block.leaf_name = range->name;
  if (const OpenRange* range = thread.innermost_user()) block.user_name = range->name;
  const BlockTracker::Verdict verdict = blocks_.Judge(block.device, block.address, block.serial);
  if (verdict.replaced != nullptr) Close(*verdict.replaced, thread.id(), cursor.tick, verdict.cause);
  if (!verdict.closed_at_once) {
    Open(block, &thread.stack(), cursor.tick);
    return;
  }
  // It comes after its own end. What lives at its address now must stay there, so it is shown under a slot of its own.
  block.ordinal = allocations_++;
  block.slot = Block::kNoSlot;
  auto begin = Make<AllocateEvent>(process_, thread.id(), cursor.tick);
  begin.block = &block;
  begin.stack = &thread.stack();
  visitor_.OnAllocate(begin);
  auto end = Make<DeallocateEvent>(process_, thread.id(), cursor.tick);
  end.block = &block;
  end.cause = verdict.cause;
  end.temporary = block.operator_call != 0;
  visitor_.OnDeallocate(end);
}

void Replayer::ShowDeallocate(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  cursor.address += static_cast<std::uint64_t>(ZigZag(run.address_delta.Next()));
  cursor.serial += static_cast<std::uint64_t>(ZigZag(run.serial_delta.Next()));
  const DeviceId device = ids_->device(cursor.has_device ? run.device.Next32() : 0);
  if (const Block* block = blocks_.FindClosed(device, cursor.address, cursor.serial)) {
    Close(*block, thread.id(), cursor.tick, DeallocateCause::kRecorded);
  }
}

Block* Replayer::Open(const Block& block, const RangeStack* stack, Tick tick) {
  if (blocks_.live().size() >= LiveSet::kMaxBlocks) {
    if (!std::exchange(told_full_, true)) SayDamage("more live blocks than can be followed");
    return nullptr;
  }
  Block& added = blocks_.live().Add(block);
  added.ordinal = allocations_++;
  auto event = Make<AllocateEvent>(process_, added.thread, tick);
  event.block = &added;
  event.stack = stack;
  event.before = block.origin == BlockOrigin::kKeyframe && !began_;
  visitor_.OnAllocate(event);
  return &added;
}

void Replayer::Close(const Block& block, ThreadId by, Tick tick, DeallocateCause cause) {
  auto event = Make<DeallocateEvent>(process_, by, tick);
  event.cause = cause;
  event.temporary = block.operator_call != 0 && ThreadOf(block.thread).operator_call() == block.operator_call;
  event.block = &block;
  visitor_.OnDeallocate(event);
  blocks_.live().Remove(block);
}

ThreadReplay& Replayer::ThreadOf(ThreadId id) {
  if (id.value >= threads_.size()) threads_.resize(id.value + 1);
  if (threads_[id.value] == nullptr) threads_[id.value] = std::make_unique<ThreadReplay>(id);
  return *threads_[id.value];
}

void Replayer::SayDamage(std::string what) {
  report_->damage.push_back({processes_[process_.value].first_file, 0, std::move(what)});
}

}  // namespace memoir
