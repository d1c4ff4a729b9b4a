#include "tools/import/trace/profiler_capture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/import/files/part_writer.h"
#include "tools/import/files/source_names.h"
#include "tools/import/trace/profiler_names.h"
#include "tools/import/trace/traced_memory.h"
#include "tools/import/trace/traced_thread.h"

namespace memoir {
namespace {

using MemoryEvent = ProfilerTrace::MemoryEvent;
using Index = ProfilerTrace::Index;
using Span = ProfilerTrace::Span;
using SpanKind = ProfilerTrace::SpanKind;

constexpr std::uint64_t kFirstTick = 1'000'000;
constexpr std::int64_t kCpu = 0;
constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};

// Returns the name of a c10::DeviceType.
std::string TypeName(std::int64_t type) {
  constexpr std::pair<std::int64_t, const char*> kNames[] = {{0, "cpu"},   {1, "cuda"}, {6, "hip"},
                                                             {9, "xla"},   {12, "xpu"}, {13, "mps"},
                                                             {15, "meta"}, {16, "hpu"}, {20, "privateuseone"}};
  const auto* const found = std::ranges::find(kNames, type, &std::pair<std::int64_t, const char*>::first);
  return found == std::end(kNames) ? absl::StrCat("device type ", type) : found->second;
}

// The order of events: by time. At the same time, ends come after all other events.
using EventOrder = std::uint64_t;
EventOrder OrderOf(std::int64_t ns, bool ends) { return 2 * static_cast<std::uint64_t>(ns) + (ends ? 1 : 0); }

struct Device {
  std::uint32_t number = 0;  // number in the capture
  bool caching = false;
  std::uint64_t serial = 0, reserved = 0, ooms = 0;
  std::unique_ptr<TracedMemory> memory;
};

class ProfilerWriter {
 public:
  ProfilerWriter(const ProfilerTrace& trace, v1::ProcessInfo info,
                 const std::function<absl::Status(std::string_view)>& write)
      : trace_(trace), writer_(std::move(info), write), names_(trace, writer_) {}

  void AddThreads();
  void AddDevice(Index device, std::unique_ptr<TracedMemory> memory);
  void AddHistory();
  absl::Status Finish();

 private:
  using NextSpan = std::pair<EventOrder, Index>;  // the order of a thread's next begin or end, and the thread

  // Returns the tick of the next event, and sets the event's thread. Events of different threads have different ticks,
  // because readers sort by ticks.
  std::uint64_t TickOf(std::int64_t ns, std::uint32_t thread);
  void Await(Index thread);
  void AddSpansUntil(EventOrder until);
  void AddNext(Index thread);
  void Begin(TracedThread& thread, Span span);
  void End(TracedThread& thread, std::vector<Span>& open);
  void AddFound(Device& device, const MemoryEvent& first, std::uint64_t reserved);
  void AddMemory(std::size_t event);
  void AddOutOfMemory(Device& device, const MemoryEvent& memory, std::uint64_t tick);
  void AddPieces(Device& device, const TracedMemory::ImpliedBlocks& implied, std::int64_t ns);
  void Reserve(Device& device, std::uint64_t tick, std::int64_t reserved);
  void EndBlock(Device& device, std::uint64_t tick, std::uint64_t address);
  void BeginBlock(Device& device, v1::EventKind kind, std::uint64_t tick, TracedMemory::AddressRange block);

  const ProfilerTrace& trace_;
  PartWriter writer_;
  ProfilerNames names_;
  std::vector<TracedThread> threads_;
  std::vector<Device> devices_;  // by Index; empty for a device without memory events
  std::priority_queue<NextSpan, std::vector<NextSpan>, std::greater<>> waiting_;
  std::uint32_t untraced_ = 0;  // a thread for memory of threads that the trace lacks; 0: not created yet
  std::uint64_t tick_ = kFirstTick;
  std::uint32_t thread_ = 0;
};

std::uint64_t ProfilerWriter::TickOf(std::int64_t ns, std::uint32_t thread) {
  const std::uint64_t tick = kFirstTick + static_cast<std::uint64_t>(ns - trace_.begin);
  tick_ = std::max(tick, tick_ + (thread == thread_ ? 0 : 1));
  thread_ = thread;
  writer_.SetThread(thread);
  return tick_;
}

void ProfilerWriter::AddThreads() {
  threads_.resize(trace_.threads.size());
  std::vector<bool> used(trace_.threads.size());
  for (const MemoryEvent& memory : trace_.memory) used[memory.thread] = true;
  for (std::size_t i = 0; i < trace_.spans.size(); ++i) {
    TracedThread& thread = threads_[trace_.spans[i].thread];
    if (thread.end == 0) thread.next = i;
    thread.end = i + 1;
    used[trace_.spans[i].thread] = true;
  }
  for (Index i = 0; i < threads_.size(); ++i) {
    const ProfilerTrace::Thread& of = trace_.threads[i];
    if (!used[i]) continue;
    threads_[i].number = writer_.AddThread({.os_id = static_cast<std::uint64_t>(std::max<std::int64_t>(of.id, 0)),
                                            .torch_id = of.torch_id,
                                            .name = trace_.texts[of.name]});
    Await(i);
  }
}

void ProfilerWriter::AddDevice(Index number, std::unique_ptr<TracedMemory> memory) {
  const ProfilerTrace::Device& of = trace_.devices[number];
  if (devices_.size() <= number) devices_.resize(number + 1);
  Device& device = devices_[number];
  const auto is_here = [&](const MemoryEvent& event) { return event.device == number; };
  device.caching = std::ranges::any_of(
      trace_.memory, [&](const MemoryEvent& event) { return is_here(event) && (event.reserved > 0 || event.failed); });
  device.memory = std::move(memory);
  if (of.type != kCpu)
    device.number = writer_.AddDevice(TypeName(of.type), static_cast<std::uint32_t>(of.index), of.product);
  // Writes the found blocks on the thread of the first allocation on the device. The next block of this thread shows
  // readers that the list of found blocks has ended.
  auto first =
      std::ranges::find_if(trace_.memory, [&](const MemoryEvent& event) { return is_here(event) && event.bytes > 0; });
  if (first == trace_.memory.end()) first = std::ranges::find_if(trace_.memory, is_here);
  const auto reserves = std::ranges::find_if(
      trace_.memory, [&](const MemoryEvent& event) { return is_here(event) && !event.failed && event.reserved > 0; });
  AddFound(device, *first, reserves == trace_.memory.end() ? 0 : static_cast<std::uint64_t>(reserves->reserved));
}

void ProfilerWriter::AddFound(Device& device, const MemoryEvent& first, std::uint64_t reserved) {
  const std::vector<TracedMemory::AddressRange>& found = device.memory->initial_blocks();
  const std::uint64_t tick = TickOf(trace_.begin, threads_[first.thread].number);
  // The segment is written first, because it shows readers that the device has a caching allocator.
  if (!found.empty() && reserved > 0) {
    device.reserved = reserved;
    writer_.AddMemory(tick, {.kind = v1::SEGMENT_FOUND,
                             .device = device.number,
                             .address = ProfilerTrace::kMostAddress,
                             .serial = ++device.serial,
                             .bytes = device.reserved});
  }
  for (const TracedMemory::AddressRange& block : found) BeginBlock(device, v1::BLOCK_FOUND, tick, block);
}

// Adds the thread's next begin or end of a span to the queue.
void ProfilerWriter::Await(Index number) {
  TracedThread& thread = threads_[number];
  const bool begins = thread.next < thread.end;
  const std::vector<Span>* ending = thread.EndingNext();
  if (ending != nullptr && (!begins || ending->back().end <= trace_.spans[thread.next].begin)) {
    waiting_.emplace(OrderOf(ending->back().end, true), number);
  } else if (begins) {
    waiting_.emplace(OrderOf(trace_.spans[thread.next].begin, false), number);
  }
}

void ProfilerWriter::AddSpansUntil(EventOrder until) {
  while (!waiting_.empty() && waiting_.top().first <= until) {
    const Index thread = waiting_.top().second;
    waiting_.pop();
    AddNext(thread);
    Await(thread);
  }
}

void ProfilerWriter::AddNext(Index number) {
  TracedThread& thread = threads_[number];
  const bool begins = thread.next < thread.end;
  std::vector<Span>* ending = thread.EndingNext();
  if (ending != nullptr && (!begins || ending->back().end <= trace_.spans[thread.next].begin))
    return End(thread, *ending);
  Begin(thread, trace_.spans[thread.next++]);
}

// Begins a span. In the trace, an inner span may end after the span around it, because the profiler reads the clock for
// each span separately. Such a span ends together with the span around it.
void ProfilerWriter::Begin(TracedThread& thread, Span span) {
  const bool is_function = span.kind == SpanKind::kPython || span.kind == SpanKind::kModule;
  std::vector<Span>& open = is_function ? thread.functions : thread.ranges;
  if (!open.empty()) span.end = std::min(span.end, open.back().end);
  const std::uint64_t tick = TickOf(span.begin, thread.number);
  open.push_back(span);
  const PartWriter::Sequence sequence{span.sequence, span.forward_thread};
  switch (span.kind) {
    case SpanKind::kPython:
      thread.stacks.push_back(names_.StackOf(thread.stacks.back(), span.name));
      return;
    case SpanKind::kModule:
      thread.modules.push_back(names_.ModuleOf(thread.modules.back(), span.name));
      return writer_.EnterModule(tick, names_.module(thread.modules.back()).number);
    case SpanKind::kUser:
      return writer_.BeginRange(v1::RANGE_BEGIN_USER, tick, names_.TextOf(span.name));
    case SpanKind::kNode:
      writer_.SetStack(tick, thread.stacks.back());
      return writer_.BeginRange(v1::RANGE_BEGIN_BACKWARD, tick, names_.TextOf(span.name), sequence);
    case SpanKind::kOperator:
      if (span.forward_thread != 0)
        return writer_.BeginRange(v1::RANGE_BEGIN_FUNCTION, tick, names_.OperatorOf(span.name));
      if (span.sequence >= 0) writer_.SetStack(tick, thread.stacks.back());
      return writer_.BeginRange(v1::RANGE_BEGIN_FUNCTION, tick, names_.OperatorOf(span.name), sequence);
  }
}

void ProfilerWriter::End(TracedThread& thread, std::vector<Span>& open) {
  const Span span = open.back();
  open.pop_back();
  if (span.kind == SpanKind::kPython) {
    thread.stacks.pop_back();
    return;
  }
  const std::uint64_t tick = TickOf(span.end, thread.number);
  if (span.kind != SpanKind::kModule) return writer_.EndRange(tick);
  writer_.ExitModule(tick, names_.module(thread.modules.back()).number);
  thread.modules.pop_back();
}

void ProfilerWriter::AddHistory() {
  for (std::size_t event = 0; event < trace_.memory.size(); ++event) {
    AddSpansUntil(OrderOf(trace_.memory[event].ns, false));
    AddMemory(event);
  }
  AddSpansUntil(kNotKnown);
}

void ProfilerWriter::AddMemory(std::size_t event) {
  const MemoryEvent& memory = trace_.memory[event];
  Device& device = devices_[memory.device];
  const TracedThread& thread = threads_[memory.thread];
  const TracedMemory::ImpliedBlocks* const implied = device.memory->ImpliedAt(event);
  std::uint64_t tick = TickOf(memory.ns, thread.number);
  const bool allocates = memory.bytes > 0;
  if (memory.failed) return AddOutOfMemory(device, memory, tick);
  if (allocates ? implied != nullptr && implied->ends_block : implied == nullptr || !implied->is_unknown)
    EndBlock(device, tick, memory.address);
  if (implied != nullptr && (!implied->ended.empty() || !implied->began.empty())) {
    AddPieces(device, *implied, memory.ns);
    tick = TickOf(memory.ns, thread.number);
  }
  if (allocates || device.reserved > 0) writer_.SetStack(tick, thread.stacks.back());
  Reserve(device, tick, memory.reserved);
  if (allocates)
    BeginBlock(device, v1::BLOCK_ALLOCATE, tick, {memory.address, static_cast<std::uint64_t>(memory.bytes)});
}

void ProfilerWriter::AddOutOfMemory(Device& device, const MemoryEvent& memory, std::uint64_t tick) {
  ++device.ooms;
  writer_.SetStack(tick, threads_[memory.thread].stacks.back());
  writer_.AddMemory(tick, {.kind = v1::OUT_OF_MEMORY,
                           .device = device.number,
                           .serial = ++device.serial,
                           .bytes = static_cast<std::uint64_t>(memory.bytes),
                           .device_free = kNotKnown});
}

void ProfilerWriter::AddPieces(Device& device, const TracedMemory::ImpliedBlocks& implied, std::int64_t ns) {
  if (untraced_ == 0) untraced_ = writer_.AddThread({.os_id = 0, .torch_id = 0, .name = "(not traced)"});
  const std::uint64_t tick = TickOf(ns, untraced_);
  for (const TracedMemory::AddressRange& piece : implied.ended) EndBlock(device, tick, piece.address);
  for (const TracedMemory::AddressRange& piece : implied.began) BeginBlock(device, v1::BLOCK_ALLOCATE, tick, piece);
}

// Writes a change of the reserved memory. The trace contains only the sum of all segments, so one segment represents
// all of them. It grows and shrinks at its end.
void ProfilerWriter::Reserve(Device& device, std::uint64_t tick, std::int64_t reserved) {
  if (reserved < 0 || !device.caching) return;
  const auto wanted = static_cast<std::uint64_t>(reserved);
  const std::uint64_t had = std::exchange(device.reserved, wanted);
  if (wanted == had) return;
  writer_.AddMemory(tick, {.kind = wanted > had ? v1::SEGMENT_ALLOCATE : v1::SEGMENT_FREE,
                           .device = device.number,
                           .address = ProfilerTrace::kMostAddress + std::min(wanted, had),
                           .serial = ++device.serial,
                           .bytes = std::max(wanted, had) - std::min(wanted, had)});
}

void ProfilerWriter::EndBlock(Device& device, std::uint64_t tick, std::uint64_t address) {
  PartWriter::MemoryEvent memory{
      .kind = v1::DEALLOCATE, .device = device.number, .address = address, .serial = ++device.serial};
  writer_.AddMemory(tick, memory);
  if (!device.caching) return;
  memory.kind = v1::DEALLOCATE_COMPLETED;
  memory.serial = ++device.serial;
  writer_.AddMemory(tick, memory);
}

void ProfilerWriter::BeginBlock(Device& device, v1::EventKind kind, std::uint64_t tick,
                                TracedMemory::AddressRange block) {
  writer_.AddMemory(tick, {.kind = kind,
                           .device = device.number,
                           .address = block.address,
                           .serial = ++device.serial,
                           .bytes = block.bytes,
                           .requested_bytes = block.bytes});
}

// Writes the profiler's own sums, which readers compare with the events.
absl::Status ProfilerWriter::Finish() {
  for (const Device& device : devices_) {
    if (!device.caching) continue;
    const std::uint64_t live = device.memory->at_end();
    writer_.AddStatistics(tick_, device.number, device.serial + 1,
                          {.allocated = live, .active = live, .reserved = device.reserved, .ooms = device.ooms});
  }
  return writer_.Finish();
}

void AddLeftOut(v1::ProcessInfo& info, std::uint64_t count, const std::string& one, const std::string& many) {
  if (count == 0) return;
  v1::Unrecorded* const unrecorded = info.add_unrecorded();
  unrecorded->set_begin_tick(kFirstTick);
  unrecorded->set_why(absl::StrCat(count, " ", count == 1 ? one : many));
}

v1::ProcessInfo InfoOf(const ProfilerTrace& trace, const std::string& program) {
  v1::ProcessInfo info;
  info.set_format_version(1);
  info.set_pid(trace.pid);
  info.set_rank_source("none");
  if (trace.rank) {
    info.set_rank(*trace.rank);
    info.set_world_size(trace.world_size);
    info.set_rank_source("torch.profiler");
  }
  info.set_program(program);
  info.set_memoir_version(MEMOIR_VERSION);
  info.set_ticks_per_second(1'000'000'000);
  info.mutable_start()->set_tick(kFirstTick);
  info.mutable_start()->set_monotonic_ns(kFirstTick);
  info.mutable_start()->set_realtime_ns(static_cast<std::uint64_t>(trace.base_ns) +
                                        static_cast<std::uint64_t>(trace.begin));
  info.add_sources(kTorchProfilerSource);
  const auto has = [&](SpanKind kind) {
    return std::ranges::any_of(trace.spans, [&](const Span& span) { return span.kind == kind; });
  };
  if (has(SpanKind::kModule)) info.add_sources(kModulesSource);
  if (has(SpanKind::kPython)) info.add_sources(kPythonStacksSource);
  return info;
}

}  // namespace

absl::Status WriteProfilerCapture(const ProfilerTrace& trace, const std::string& program,
                                  const std::function<absl::Status(std::string_view)>& write) {
  v1::ProcessInfo info = InfoOf(trace, program);
  std::vector<std::pair<Index, std::unique_ptr<TracedMemory>>> devices;
  bool found = false;
  std::uint64_t untraced = 0;
  for (Index device = 0; device < trace.devices.size(); ++device) {
    if (std::ranges::none_of(trace.memory, [&](const MemoryEvent& event) { return event.device == device; })) continue;
    devices.emplace_back(device, std::make_unique<TracedMemory>(trace, device));
    found = found || !devices.back().second->initial_blocks().empty();
    untraced += devices.back().second->untraced();
  }
  if (found) info.add_sources(kCutHistorySource);
  AddLeftOut(info, untraced, "change of the profiler's totals has no event: a thread that it did not follow",
             "changes of the profiler's totals have no event: threads that it did not follow");
  AddLeftOut(info, trace.of_other_processes, "memory event of another process is left out",
             "memory events of other processes are left out");
  AddLeftOut(info, trace.unreadable, "memory event is left out: its time, address or size is not possible",
             "memory events are left out: their time, address or size is not possible");
  ProfilerWriter writer(trace, std::move(info), write);
  writer.AddThreads();
  for (auto& [device, memory] : devices) writer.AddDevice(device, std::move(memory));
  writer.AddHistory();
  return writer.Finish();
}

}  // namespace memoir
