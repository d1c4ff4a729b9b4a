#include "tracker/writer/events/run_columns.h"

#include "tracker/writer/events/capture_fields.h"

#include <numeric>

namespace memoir {
namespace {

// Returns zigzag(value - before), where the difference is modulo 2^64.
std::uint64_t Delta(std::uint64_t value, std::uint64_t before) {
  return protozero::encode_zigzag64(static_cast<std::int64_t>(value - before));
}

}  // namespace

void RunColumns::Start(std::uint32_t thread, std::uint64_t first_record, std::uint64_t start_depth,
                       std::uint32_t start_stack, std::uint64_t repeated_before) {
  thread_ = thread;
  first_record_ = first_record;
  start_depth_ = start_depth;
  start_stack_ = start_stack;
  repeated_before_ = repeated_before;
  record_count_ = first_tick_ = tick_ = address_ = serial_ = stream_ = correlation_ = 0;
  sequence_ = 0;
  bytes_ = 0;
  used_ = 0;
  kind_.clear();
  for (VarintColumn& column : columns_) column.clear();
}

void RunColumns::PutEvent(EventKind kind, std::uint64_t tick) {
  if (kind_.empty()) first_tick_ = tick_ = tick;
  kind_.PutByte(static_cast<std::uint8_t>(kind));
  ++bytes_;
  Put(RunColumn::kTickDelta, tick - tick_);
  tick_ = tick;
}

void RunColumns::PutBegin(std::uint32_t name, std::int64_t sequence) {
  Put(RunColumn::kName, name);
  Put(RunColumn::kSequenceDelta, Delta(static_cast<std::uint64_t>(sequence), static_cast<std::uint64_t>(sequence_)));
  sequence_ = sequence;
}

void RunColumns::PutBlock(std::uint64_t address, std::uint64_t serial, std::uint32_t device) {
  Put(RunColumn::kAddressDelta, Delta(address, address_));
  Put(RunColumn::kSerialDelta, Delta(serial, serial_));
  Put(RunColumn::kDevice, device);
  address_ = address;
  serial_ = serial;
}

void RunColumns::PutStream(std::uint64_t stream) {
  Put(RunColumn::kStreamDelta, Delta(stream, stream_));
  stream_ = stream;
}

void RunColumns::PutCorrelation(std::uint32_t correlation) {
  Put(RunColumn::kCorrelationDelta, Delta(correlation, correlation_));
  correlation_ = correlation;
}

void RunColumns::PutPlace(const DevicePlace& place) {
  PutStream(place.stream);
  Put(RunColumn::kPoolGraph, place.pool_graph);
  Put(RunColumn::kPoolUser, place.pool_user);
}

void RunColumns::PutDriverCall(std::uint8_t call, std::uint32_t library) {
  Put(RunColumn::kDriverCall, call);
  Put(RunColumn::kLibrary, library);
}

std::size_t RunColumns::capacity() const {
  return std::accumulate(columns_.begin(), columns_.end(), kind_.capacity(),
                         [](std::size_t sum, const VarintColumn& column) { return sum + column.capacity(); });
}

void RunColumns::AddColumns(protozero::pbf_writer& run) const {
  kind_.AddTo(run, field::thread_run::kKind);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!kRunColumns[i].zeros_left_out || (used_ >> i & 1) != 0) columns_[i].AddTo(run, kRunColumns[i].field);
  }
}

void RunColumns::AddTo(std::string* payload) const {
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer run(message, field::payload::kRuns);
  run.add_uint32(field::thread_run::kThread, thread_);
  run.add_uint64(field::thread_run::kFirstRecord, first_record_);
  run.add_uint64(field::thread_run::kRecordCount, record_count_);
  run.add_uint64(field::thread_run::kStartDepth, start_depth_);
  run.add_uint64(field::thread_run::kFirstTick, first_tick_);
  AddColumns(run);
  if (start_stack_ != 0) run.add_uint32(field::thread_run::kStartStack, start_stack_);
  if (repeated_before_ != 0) run.add_uint64(field::thread_run::kRepeatedBefore, repeated_before_);
}

}  // namespace memoir
