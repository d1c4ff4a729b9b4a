// Field numbers are from the public protos.
#include "tools/view/trace/perfetto_trace.h"

#include "fmt/format.h"
#include "tools/view/trace/perfetto_fields.h"

namespace memoir {
namespace {

using namespace perfetto;

constexpr std::size_t kWriteAt = std::size_t{1} << 20;
constexpr std::uint32_t kSequence = 1;

enum DescriptorField : std::uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kProcess = 3,
  kThread = 4,
  kParentUuid = 5,
  kCounter = 8
};
enum ProcessField : std::uint32_t { kProcessPid = 1, kProcessName = 6 };
enum ThreadField : std::uint32_t { kThreadPid = 1, kThreadTid = 2, kThreadName = 5 };
enum CounterField : std::uint32_t { kUnit = 3 };
constexpr std::int32_t kSizeInBytes = 3;
enum EventField : std::uint32_t {
  kCategoryIids = 3,
  kNotes = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kCounterValue = 30
};
enum EventType : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterEvent = 4 };
enum NoteField : std::uint32_t { kNoteNameIid = 1, kUintValue = 3, kStringValue = 6 };

std::string EventOf(EventType type, std::uint64_t track) {
  std::string bytes;
  protozero::pbf_writer event(bytes);
  event.add_enum(kType, type);
  event.add_uint64(kTrackUuid, track);
  return bytes;
}

}  // namespace

std::uint64_t PerfettoTrace::NumberOf(Texts& texts, std::string_view text) {
  const auto [known, added] = texts.numbers.try_emplace(std::string(text), texts.numbers.size() + 1);
  if (added) new_.push_back({texts.field, known->second, std::string(text)});
  return known->second;
}

void PerfettoTrace::AddPacket(const std::string& packet) {
  protozero::pbf_writer(bytes_).add_message(kPacket, packet);
  if (bytes_.size() < kWriteAt) return;
  write_(bytes_);
  bytes_.clear();
}

void PerfettoTrace::AddEvent(std::uint64_t ns, const std::string& event) {
  std::string bytes;
  protozero::pbf_writer packet(bytes);
  packet.add_uint64(kTimestamp, ns);
  packet.add_uint32(kSequenceId, kSequence);
  packet.add_uint32(kSequenceFlags, first_ ? kStateCleared | kNeedsState : kNeedsState);
  first_ = false;
  if (!new_.empty()) {
    protozero::pbf_writer interned(packet, kInternedData);
    for (const NewText& text : new_) {
      protozero::pbf_writer entry(interned, text.field);
      entry.add_uint64(kTextIid, text.number);
      entry.add_string(kText, text.text);
    }
  }
  new_.clear();
  packet.add_message(kTrackEvent, event);
  AddPacket(bytes);
}

void PerfettoTrace::AddNote(protozero::pbf_writer& event, std::string_view name, std::string_view text) {
  protozero::pbf_writer note(event, kNotes);
  note.add_uint64(kNoteNameIid, NumberOf(note_names_, name));
  note.add_string(kStringValue, text.data(), text.size());
}

void PerfettoTrace::AddNote(protozero::pbf_writer& event, std::string_view name, std::uint64_t number) {
  protozero::pbf_writer note(event, kNotes);
  note.add_uint64(kNoteNameIid, NumberOf(note_names_, name));
  note.add_uint64(kUintValue, number);
}

void PerfettoTrace::AddProcess(std::uint64_t pid, std::string_view name) {
  std::string bytes;
  protozero::pbf_writer packet(bytes);
  {
    protozero::pbf_writer track(packet, kTrackDescriptor);
    track.add_uint64(kUuid, processes_[pid] = ++tracks_);
    protozero::pbf_writer process(track, kProcess);
    process.add_int32(kProcessPid, SystemNumber(pid));
    process.add_string(kProcessName, name.data(), name.size());
  }
  packet.add_uint32(kSequenceId, kSequence);
  AddPacket(bytes);
}

void PerfettoTrace::AddThread(const TraceThread& shown, std::string_view name) {
  std::string bytes;
  protozero::pbf_writer packet(bytes);
  {
    protozero::pbf_writer track(packet, kTrackDescriptor);
    track.add_uint64(kUuid, threads_[{shown.pid, shown.tid}] = ++tracks_);
    track.add_uint64(kParentUuid, processes_[shown.pid]);
    protozero::pbf_writer thread(track, kThread);
    thread.add_int32(kThreadPid, SystemNumber(shown.pid));
    thread.add_int32(kThreadTid, SystemNumber(shown.tid));
    thread.add_string(kThreadName, name.data(), name.size());
  }
  packet.add_uint32(kSequenceId, kSequence);
  AddPacket(bytes);
}

std::uint64_t PerfettoTrace::CounterTrack(std::uint64_t pid, std::string_view name) {
  const auto [known, added] = counters_.try_emplace({pid, std::string(name)}, tracks_ + 1);
  if (!added) return known->second;
  std::string bytes;
  protozero::pbf_writer packet(bytes);
  {
    protozero::pbf_writer track(packet, kTrackDescriptor);
    track.add_uint64(kUuid, ++tracks_);
    track.add_uint64(kParentUuid, processes_[pid]);
    track.add_string(kTrackName, name.data(), name.size());
    protozero::pbf_writer counter(track, kCounter);
    counter.add_enum(kUnit, kSizeInBytes);
  }
  packet.add_uint32(kSequenceId, kSequence);
  AddPacket(bytes);
  return known->second;
}

void PerfettoTrace::Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) {
  std::string bytes = EventOf(kSliceBegin, TrackOf(thread));
  protozero::pbf_writer event(bytes);
  event.add_uint64(kNameIid, NumberOf(names_, slice.name));
  event.add_uint64(kCategoryIids, NumberOf(categories_, slice.category));
  AddNote(event, "phase", slice.phase);
  if (slice.device.empty()) {
    AddNote(event, "allocated_bytes", slice.allocated);
    AddNote(event, "freed_bytes", slice.freed);
  } else {
    AddNote(event, "device", slice.device);
    AddNote(event, "stream", fmt::format("{:#x}", slice.stream));
    AddNote(event, "bytes", slice.bytes);
  }
  if (!slice.module.empty()) AddNote(event, "module", slice.module);
  AddEvent(ns, bytes);
}

void PerfettoTrace::End(const TraceThread& thread, std::uint64_t ns) {
  AddEvent(ns, EventOf(kSliceEnd, TrackOf(thread)));
}

void PerfettoTrace::Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name,
                            std::optional<std::uint64_t> size) {
  std::string bytes = EventOf(kInstant, TrackOf(thread));
  protozero::pbf_writer event(bytes);
  event.add_uint64(kNameIid, NumberOf(names_, name));
  if (size) AddNote(event, "bytes", *size);
  AddEvent(ns, bytes);
}

void PerfettoTrace::Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t size) {
  std::string bytes = EventOf(kCounterEvent, CounterTrack(pid, name));
  protozero::pbf_writer(bytes).add_int64(kCounterValue, static_cast<std::int64_t>(size));
  AddEvent(ns, bytes);
}

void PerfettoTrace::Finish() {
  write_(bytes_);
  bytes_.clear();
}

}  // namespace memoir
