// One ThreadRun while it grows: events of one thread that follow one another, as columns. One thread.
#ifndef TRACKER_WRITER_RUN_COLUMNS_H_
#define TRACKER_WRITER_RUN_COLUMNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "interpose/ring_record.h"
#include "proto/memoir/run_schema.h"
#include "tracker/writer/capture_fields.h"
#include "tracker/writer/varint_column.h"

namespace memoir {

class RunColumns {
 public:
  // Empties the columns for a new run. `repeated_before`: records of the thread since its last one that need none.
  void Start(std::uint32_t thread, std::uint64_t first_record, std::uint64_t start_depth, std::uint32_t start_stack,
             std::uint64_t repeated_before = 0);

  // First the event itself, then the columns that its kind takes (proto/memoir/events.def).
  void Event(EventKind kind, std::uint64_t tick);
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
  // Those of which a value says more, or several columns have one.
  void Begin(std::uint32_t name, std::int64_t sequence);
  void Block(std::uint64_t address, std::uint64_t serial, std::uint32_t device);
  void Place(const DevicePlace& place);
  void PutKnown(RunColumn column, std::uint64_t value) { Put(column, value + 1); }  // kNotKnown
  void DriverCall(std::uint8_t call, std::uint32_t library);
  void Stream(std::uint64_t stream);
  void Correlation(std::uint32_t correlation);
  void CountRecords(std::uint64_t records) { record_count_ += records; }

  // The address of the memory event before: what one without an address repeats.
  std::uint64_t last_address() const { return address_; }
  std::uint64_t next_record() const { return first_record_ + record_count_; }
  std::uint64_t events() const { return kind_.size(); }
  std::size_t bytes() const { return bytes_; }  // encoded size so far
  std::size_t capacity() const;                 // memory held
  void AddTo(std::string* payload) const;
  void AddColumns(protozero::pbf_writer& run) const;  // without what is beside them

 private:
  std::uint32_t thread_ = 0;
  std::uint64_t first_record_ = 0;
  std::uint64_t record_count_ = 0;
  std::uint64_t start_depth_ = 0;
  std::uint32_t start_stack_ = 0;
  std::uint64_t repeated_before_ = 0;
  std::uint64_t first_tick_ = 0;
  // The values before, for deltas.
  std::uint64_t tick_ = 0;
  std::int64_t sequence_ = 0;
  std::uint64_t address_ = 0;
  std::uint64_t serial_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t correlation_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t used_ = 0;  // bits by RunColumn: of those that may be left out, the ones with another value than 0

  VarintColumn kind_;
  std::array<VarintColumn, kRunColumnCount> columns_;  // by RunColumn
};

}  // namespace memoir

#endif  // TRACKER_WRITER_RUN_COLUMNS_H_
