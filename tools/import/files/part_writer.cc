#include "tools/import/files/part_writer.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/import/files/chunk_bytes.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMostChunkEvents = 1u << 16;
constexpr std::size_t kMostDefinedBytes = 4u << 20;

// Returns `value` minus `last`, and sets `last` to `value`.
std::int64_t Difference(std::uint64_t value, std::uint64_t& last) {
  const std::uint64_t difference = value - std::exchange(last, value);
  return static_cast<std::int64_t>(difference);
}

bool HasPlace(v1::EventKind kind) { return kind != v1::DEALLOCATE && kind != v1::DEALLOCATE_COMPLETED; }

}  // namespace

PartWriter::PartWriter(v1::ProcessInfo info, std::function<absl::Status(std::string_view)> write)
    : write_(std::move(write)), info_(std::move(info)), tick_(info_.start().tick()) {
  const std::string who = absl::StrCat(info_.pid(), " ", info_.start().SerializeAsString());
  recording_ = XXH64(who.data(), who.size(), 0);
  payload_.mutable_keyframe()->set_tick(tick_);
}

std::uint32_t PartWriter::AddThread(const Thread& thread) {
  states_.emplace_back();
  const auto number = static_cast<std::uint32_t>(states_.size());
  v1::ThreadDef* const definition = payload_.add_threads();
  definition->set_id(number);
  definition->set_os_id(thread.os_id);
  definition->set_torch_id(thread.torch_id);
  definition->set_name(thread.name);
  return number;
}

void PartWriter::NoteDefinition(std::size_t bytes) {
  defined_bytes_ += bytes + 32;
  if (defined_bytes_ > kMostDefinedBytes) EndChunk(false);
}

std::uint32_t PartWriter::AddName(v1::NameDef::Kind kind, std::string_view text, std::string_view file) {
  v1::NameDef* const name = payload_.add_names();
  name->set_id(++names_);
  name->set_kind(kind);
  name->set_text(std::string(text));
  if (!file.empty()) name->set_code_file(std::string(file));
  name->set_hash(HashOf(*name));
  if (kind == v1::NameDef::OPERATOR) name->set_schema(std::string(text) + "() -> ()");
  const std::uint32_t number = names_;
  NoteDefinition(text.size() + file.size());
  return number;
}

std::uint32_t PartWriter::AddModule(const std::string& root, const std::string& path, const std::string& module_class) {
  v1::NameDef* const name = payload_.add_names();
  name->set_id(++names_);
  name->set_kind(v1::NameDef::MODULE);
  name->set_text(path);
  name->set_module_class(module_class);
  name->set_module_root(root);
  name->set_hash(HashOf(*name));
  const std::uint32_t number = names_;
  NoteDefinition(root.size() + path.size() + module_class.size() + 2);
  return number;
}

std::uint32_t PartWriter::AddStack(std::uint32_t parent, std::uint32_t code, std::uint32_t line) {
  v1::StackDef* const stack = payload_.add_stacks();
  stack->set_id(++stacks_);
  stack->set_parent(parent);
  stack->set_code(code);
  stack->set_line(line);
  const std::uint32_t number = stacks_;
  NoteDefinition(0);
  return number;
}

std::uint32_t PartWriter::AddDevice(const std::string& type, std::uint32_t index, const std::string& product) {
  v1::DeviceDef* const device = payload_.add_devices();
  device->set_id(++devices_);
  device->set_type(type);
  device->set_index(index);
  device->set_product(product);
  return devices_;
}

void PartWriter::StartRun(ThreadState& state, std::uint64_t tick) {
  state.run = payload_.add_runs();
  state.run->set_thread(thread_);
  state.run->set_first_record(state.events);
  state.run->set_start_depth(state.depth);
  state.run->set_start_stack(state.stack);
  state.run->set_first_tick(tick);
  state.tick = tick;
  state.address = state.serial = state.stream = state.sequence = 0;
  state.pools = false;
}

void PartWriter::EndRun(ThreadState& state) {
  if (state.run == nullptr) return;
  state.run->set_record_count(state.events - state.run->first_record());
  if (!state.pools) {
    state.run->clear_pool_graph();
    state.run->clear_pool_user();
  }
  state.run = nullptr;
}

v1::ThreadRun& PartWriter::AddEvent(v1::EventKind kind, std::uint64_t tick) {
  if (chunk_events_ == kMostChunkEvents) EndChunk(false);
  tick_ = std::max(tick, tick_);
  if (chunk_events_++ == 0) chunk_tick_ = tick_;
  ThreadState& state = this->thread_state();
  if (state.run == nullptr) StartRun(state, tick_);
  state.run->mutable_kind()->push_back(static_cast<char>(kind));
  state.run->add_tick_delta(tick_ - std::exchange(state.tick, tick_));
  ++state.events;
  ++events_;
  return *state.run;
}

void PartWriter::BeginRange(v1::EventKind kind, std::uint64_t tick, std::uint32_t name, const Sequence& sequence) {
  v1::ThreadRun& run = AddEvent(kind, tick);
  run.add_name(name);
  run.add_sequence_delta(Difference(static_cast<std::uint64_t>(sequence.number), thread_state().sequence));
  run.add_signature(0);
  if (kind == v1::RANGE_BEGIN_BACKWARD) run.add_forward_thread(sequence.forward_thread);
  ++thread_state().depth;
}

void PartWriter::EndRange(std::uint64_t tick) {
  AddEvent(v1::RANGE_END, tick).add_signature(0);
  --thread_state().depth;
}

void PartWriter::EnterModule(std::uint64_t tick, std::uint32_t module) {
  AddEvent(v1::MODULE_ENTER, tick).add_module(module);
}

void PartWriter::ExitModule(std::uint64_t tick, std::uint32_t module) {
  AddEvent(v1::MODULE_EXIT, tick).add_module(module);
}

void PartWriter::SetStack(std::uint64_t tick, std::uint32_t stack) {
  if (stack == thread_state().stack) return;
  AddEvent(v1::STACK, tick).add_stack(stack);
  thread_state().stack = stack;
}

void PartWriter::AddMemory(std::uint64_t tick, const MemoryEvent& memory) {
  v1::ThreadRun& run = AddEvent(memory.kind, tick);
  run.add_address_delta(Difference(memory.address, thread_state().address));
  run.add_serial_delta(Difference(memory.serial, thread_state().serial));
  run.add_device(memory.device);
  if (HasPlace(memory.kind)) AddPlace(run, memory);
  if (memory.kind == v1::BLOCK_ALLOCATE || memory.kind == v1::BLOCK_FOUND)
    run.add_requested_bytes(memory.requested_bytes);
  if (memory.kind == v1::OUT_OF_MEMORY) run.add_device_free(memory.device_free);
}

void PartWriter::AddPlace(v1::ThreadRun& run, const MemoryEvent& memory) {
  run.add_bytes(memory.bytes);
  run.add_stream_delta(Difference(memory.stream, thread_state().stream));
  run.add_pool_graph(memory.pool_graph);
  run.add_pool_user(memory.pool_user);
  thread_state().pools = thread_state().pools || memory.pool_graph != 0 || memory.pool_user != 0;
}

void PartWriter::AddStatistics(std::uint64_t tick, std::uint32_t device, std::uint64_t serial,
                               const Statistics& statistics) {
  v1::ThreadRun& run = AddEvent(v1::DEVICE_STATISTICS, tick);
  run.add_address_delta(0);
  run.add_serial_delta(Difference(serial, thread_state().serial));
  run.add_device(device);
  for (const std::uint64_t value :
       {statistics.allocated, statistics.active, statistics.reserved, statistics.retries, statistics.ooms})
    run.add_statistic(value);
}

void PartWriter::EndChunk(bool last) {
  for (ThreadState& state : states_) EndRun(state);
  v1::Chunk chunk;
  chunk.set_event_count(chunk_events_);
  if (chunk_events_ != 0) {
    chunk.set_first_tick(chunk_tick_);
    chunk.set_last_tick(tick_);
  }
  v1::ClockSync* const clock = payload_.mutable_clock();
  clock->set_tick(tick_);
  clock->set_monotonic_ns(tick_);
  clock->set_realtime_ns(info_.start().realtime_ns() + (tick_ - info_.start().tick()));
  payload_.mutable_counters();
  if (last) payload_.mutable_end()->set_reason(v1::End::STOPPED);
  PackPayload(payload_, chunk);
  chunk.set_complete_until_tick(tick_);
  chunk.set_has_keyframe(payload_.has_keyframe());
  Write(chunk);
  payload_.Clear();
  chunk_events_ = 0;
  defined_bytes_ = 0;
}

void PartWriter::Write(v1::Chunk& chunk) {
  chunk.set_sequence(sequence_++);
  chunk.set_recording(recording_);
  if (offset_ == 0) *chunk.mutable_process() = info_;
  const std::string bytes = EncodeChunk(chunk);
  v1::ChunkRef* const ref = index_.add_chunks();
  ref->set_offset(offset_);
  ref->set_bytes(bytes.size());
  ref->set_first_tick(chunk.first_tick());
  ref->set_last_tick(chunk.last_tick());
  ref->set_event_count(chunk.event_count());
  ref->set_has_keyframe(chunk.has_keyframe());
  AppendBytes(bytes);
}

void PartWriter::AppendBytes(std::string_view bytes) {
  offset_ += bytes.size();
  if (status_.ok()) status_ = write_(bytes);
}

absl::Status PartWriter::Finish() {
  EndChunk(true);
  v1::Chunk chunk;
  *chunk.mutable_index() = index_;
  Write(chunk);
  return status_;
}

}  // namespace memoir
