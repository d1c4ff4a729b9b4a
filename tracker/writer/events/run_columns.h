// Collects consecutive events of one thread as columns, and encodes them (ThreadRun in capture.proto). One thread.
#ifndef TRACKER_WRITER_EVENTS_RUN_COLUMNS_H_
#define TRACKER_WRITER_EVENTS_RUN_COLUMNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "interpose/records/ring_record.h"
#include "proto/memoir/run_schema.h"
#include "tracker/writer/events/event_kinds.h"
#include "tracker/writer/events/varint_column.h"

namespace memoir {

class RunColumns {
 public:
  // Empties the columns for a new run. `repeated_before`: number of the thread's records since its last run that are in
  // no run (RowPacker::NoteRepeated).
  void Start(std::uint32_t thread, std::uint64_t first_record, std::uint64_t start_depth, std::uint32_t start_stack,
             std::uint64_t repeated_before = 0);

  // For each event, call PutEvent, and then Put for each column of the event's kind (proto/memoir/events.def).
  void PutEvent(EventKind kind, std::uint64_t tick);
  void Put(RunColumn column, std::uint64_t value) {
    const std::size_t number = static_cast<std::size_t>(column);
    const std::size_t before = columns_[number].size();
    columns_[number].Put(value);
    if (!SchemaOf(column).zeros_left_out || (used_ >> number & 1) != 0) [[likely]] {
      bytes_ += columns_[number].size() - before;
    } else if (value != 0) {
      used_ |= std::uint64_t{1} << number;
      bytes_ += columns_[number].size();
    }
  }
  // Like Put, for values that need several columns or are encoded in a special way.
  void PutBegin(std::uint32_t name, std::int64_t sequence);
  void PutBlock(std::uint64_t address, std::uint64_t serial, std::uint32_t device);
  void PutPlace(const DevicePlace& place);
  void PutOptional(RunColumn column, std::uint64_t value) { Put(column, value + 1); }  // kNotKnown becomes 0
  void PutDriverCall(std::uint8_t call, std::uint32_t library);
  void PutStream(std::uint64_t stream);
  void PutCorrelation(std::uint32_t correlation);
  void CountRecords(std::uint64_t records) { record_count_ += records; }

  // Returns the address of the previous memory event. An event without an address stores this address, because the
  // difference is then 0.
  std::uint64_t last_address() const { return address_; }
  std::uint64_t next_record() const { return first_record_ + record_count_; }
  std::uint64_t events() const { return kind_.size(); }
  std::size_t bytes() const { return bytes_; }  // encoded bytes so far
  std::size_t capacity() const;                 // bytes of memory that the columns hold
  void AddTo(std::string* payload) const;
  void AddColumns(protozero::pbf_writer& run) const;  // without the other fields of a run

 private:
  std::uint32_t thread_ = 0;
  std::uint64_t first_record_ = 0;
  std::uint64_t record_count_ = 0;
  std::uint64_t start_depth_ = 0;
  std::uint32_t start_stack_ = 0;
  std::uint64_t repeated_before_ = 0;
  std::uint64_t first_tick_ = 0;
  // The values of the previous event, from which the differences are computed.
  std::uint64_t tick_ = 0;
  std::int64_t sequence_ = 0;
  std::uint64_t address_ = 0;
  std::uint64_t serial_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t correlation_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t used_ = 0;  // one bit for each RunColumn with `zeros_left_out` that has another value than 0

  VarintColumn kind_;
  std::array<VarintColumn, kRunColumnCount> columns_;  // indexed by RunColumn
};

}  // namespace memoir

#endif  // TRACKER_WRITER_EVENTS_RUN_COLUMNS_H_
