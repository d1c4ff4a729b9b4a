#include "tools/read/chunk/step_pattern.h"

#include <algorithm>
#include <iterator>

#include "tools/read/chunk/run.h"
#include "tools/read/chunk/run_check.h"

namespace memoir {
namespace {

// The limits are several times more than the tracker writes.
constexpr std::size_t kMaxPatternRowsBytes = 16u << 20;
constexpr int kMaxRows = 1 << 20;

absl::Status Damaged(const char* what) { return absl::DataLossError(what); }

// Iterates over one column of a message. Behind the end, Next returns 0 and counts a missing value. Missing values are
// damage, except in an empty column that the format allows to omit.
template <class Values>
class ColumnWalk {
 public:
  explicit ColumnWalk(const Values& values) : values_(values) {}
  std::uint64_t Next() {
    if (at_ == values_.size()) {
      ++missing_;
      return 0;
    }
    return static_cast<std::uint64_t>(values_.Get(at_++));
  }
  std::uint32_t Next32() { return static_cast<std::uint32_t>(Next()); }
  std::uint64_t NextSum() { return sum_ += Next(); }
  bool fits() const { return missing_ == 0 && at_ == values_.size(); }
  bool fits_or_empty() const { return values_.empty() || fits(); }

 private:
  const Values& values_;
  int at_ = 0;
  std::size_t missing_ = 0;
  std::uint64_t sum_ = 0;
};

v1::EventKind KindOf(char kind) { return static_cast<v1::EventKind>(static_cast<unsigned char>(kind)); }

bool MayBeInPattern(const PatternEvent& event, bool first) {
  switch (event.kind) {
    case v1::STEP:
      return first;
    case v1::STACK:
    case v1::BLOCK_ALLOCATE:
    case v1::DEALLOCATE_COMPLETED:
      return !first && event.of_host == 0;
    case v1::ALLOCATE:
      return !first && event.of_host == kOfHost;
    case v1::DEALLOCATE:
      return !first;
    default:
      return false;
  }
}

// Reads the columns of a checked run, event by event.
class PatternReader {
 public:
  explicit PatternReader(const Run& run) : run_(run) {}

  PatternEvent Next(v1::EventKind kind) {
    PatternEvent event;
    event.kind = kind;
    event.tick = tick_ += run_.tick_delta.Next();
    if (kind == v1::STACK) event.stack = run_.stack.Next32();
    const bool allocates = kind == v1::ALLOCATE || kind == v1::BLOCK_ALLOCATE;
    if (!allocates && kind != v1::DEALLOCATE && kind != v1::DEALLOCATE_COMPLETED) return event;
    event.address = address_ += static_cast<std::uint64_t>(DecodeZigZag(run_.address_delta.Next()));
    event.device = run_.device.Next32();
    if (allocates) event.bytes = run_.bytes.Next();
    if (kind != v1::BLOCK_ALLOCATE) return event;
    event.requested_bytes = run_.requested_bytes.Next();
    event.stream = stream_ += static_cast<std::uint64_t>(DecodeZigZag(run_.stream_delta.Next()));
    event.pool_graph = run_.pool_graph.Next32();
    event.pool_user = run_.pool_user.Next32();
    return event;
  }

 private:
  Run run_;
  std::uint64_t tick_ = 0, address_ = 0, stream_ = 0;
};

}  // namespace

absl::Status ParseStepPattern(std::string_view bytes, std::size_t most_events, StepPattern* pattern) {
  std::string_view events;
  Column thread, of_host, freed_event;
  PackedVarints* const by_field[] = {&thread, &of_host, &freed_event};
  WireReader reader(bytes);
  for (WireField field; reader.Next(&field);) {
    if (field.number == v1::StretchDef::kIdFieldNumber) pattern->id = static_cast<std::uint32_t>(field.value);
    if (field.number == v1::StretchDef::kEventsFieldNumber) events = field.bytes;
    const std::uint32_t column = field.number - v1::StretchDef::kThreadFieldNumber;
    if (column < std::size(by_field) && !SetColumn(field, by_field[column]))
      return Damaged("column of a stretch is not packed as one");
  }
  if (!reader.ok()) return Damaged("stretch in a chunk is damaged");
  Run run;
  if (absl::Status parsed = ParseRun(events, &run); !parsed.ok()) return parsed;
  if (absl::Status checked = CheckRun(run, SignatureCountsById()); !checked.ok()) return checked;
  const std::size_t count = run.kind.size();
  if (count > most_events) return Damaged("chunk defines longer stretches than a chunk can");
  if (!HasValues(thread, count) || !HasValues(of_host, count) || !HasValues(freed_event, count))
    return Damaged("columns of a stretch do not match its events");
  PatternReader walk(run);
  std::uint64_t latest = 0;
  pattern->events.reserve(count);
  for (const char kind : run.kind) {
    PatternEvent& event = pattern->events.emplace_back(walk.Next(KindOf(kind)));
    event.thread = thread.Next32();
    event.of_host = of_host.Next32();
    event.freed_event = freed_event.Next32();
    if (event.of_host > kAllocatedInStep)
      pattern->steps_back = std::max(pattern->steps_back, event.of_host - kAllocatedInStep);
    if (!MayBeInPattern(event, pattern->events.size() == 1)) return Damaged("stretch holds events that none can");
    if (event.tick < latest) return Damaged("ticks of a stretch go backward");
    latest = event.tick;
  }
  return absl::OkStatus();
}

absl::Status ParsePatternRows(std::string_view bytes, PatternRows* pattern_rows) {
  v1::Repeats message;
  const bool parsed =
      bytes.size() <= kMaxPatternRowsBytes && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (!parsed || message.stretch_size() > kMaxRows) return Damaged("repeats of a chunk are damaged");
  ColumnWalk first_event(message.first_event()), events(message.events()), step(message.step_delta());
  ColumnWalk tick(message.tick_delta()), ticks(message.ticks());
  ColumnWalk step_number(message.step_number());
  std::uint64_t now = 0, live = 0;
  for (const std::uint32_t pattern : message.stretch()) {
    PatternRow& row = pattern_rows->rows.emplace_back();
    row.pattern = pattern;
    row.first_event = first_event.Next32();
    row.events = events.Next32();
    row.first_tick = now + tick.Next();
    row.ticks = ticks.Next();
    now = row.first_tick + row.ticks;
    row.step = step.NextSum();
    if (row.pattern != 0 && row.first_event == 0) row.step_number = step_number.NextSum();
    (row.pattern == 0 ? live : pattern_rows->events) += row.events;
    if (row.events == 0) return Damaged("row of a chunk's repeats is empty");
  }
  const bool match = first_event.fits_or_empty() && events.fits() && tick.fits() && ticks.fits() && step.fits() &&
                     step_number.fits() && live == static_cast<std::uint64_t>(message.living_serial_size());
  if (!match) return Damaged("columns of a chunk's repeats do not match");
  if (pattern_rows->events > kMaxRowEvents) return Damaged("chunk repeats more events than a chunk can");
  std::uint64_t address = 0;
  pattern_rows->addresses.reserve(static_cast<std::size_t>(message.address_delta_size()));
  for (const std::int64_t delta : message.address_delta())
    pattern_rows->addresses.push_back(address += static_cast<std::uint64_t>(delta));
  std::uint64_t serial = 0;
  for (const std::int64_t delta : message.living_serial())
    pattern_rows->live_serials.push_back(serial += static_cast<std::uint64_t>(delta));
  pattern_rows->serial_deltas.assign(message.serial_delta().begin(), message.serial_delta().end());
  return absl::OkStatus();
}

}  // namespace memoir
