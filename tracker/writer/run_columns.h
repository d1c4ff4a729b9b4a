// One ThreadRun while it grows: events of one thread that follow one another, as columns. One thread.
#ifndef TRACKER_WRITER_RUN_COLUMNS_H_
#define TRACKER_WRITER_RUN_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "interpose/ring_record.h"
#include "tracker/writer/capture_fields.h"
#include "tracker/writer/varint_column.h"

namespace memoir {

class RunColumns {
 public:
  // Empties the columns for a new run.
  void Start(std::uint32_t thread, std::uint64_t first_record, std::uint64_t start_depth);

  // First the event itself, then the columns that its kind takes.
  void Event(EventKind kind, std::uint64_t tick);
  void Begin(std::uint32_t name, std::int64_t sequence);
  void ForwardThread(std::uint64_t forward_thread) { forward_thread_.Put(forward_thread); }
  void Signature(std::uint32_t signature) { signature_.Put(signature); }
  void Tensor(std::uint32_t reference) { tensor_.Put(reference); }
  void Block(std::uint64_t address, std::uint64_t serial, std::uint32_t device);
  void Bytes(std::uint64_t bytes) { allocated_bytes_.Put(bytes); }
  void Requested(std::uint64_t bytes) { requested_.Put(bytes); }
  void Place(const DevicePlace& place);
  void DeviceFree(std::uint64_t bytes) { device_free_.Put(bytes); }
  void DeviceLimit(std::uint64_t bytes);  // kNotKnown
  void Statistic(std::uint64_t value) { statistic_.Put(value); }
  void DriverCall(std::uint8_t call, std::uint32_t library);
  void DriverError(std::uint32_t error) { driver_error_.Put(error); }
  void ReadingCause(std::uint8_t cause) { reading_cause_.Put(cause); }
  void Reading(std::uint64_t value) { reading_.Put(value + 1); }  // kNotKnown
  void Mark(std::uint32_t name) { mark_name_.Put(name); }
  void Step(std::uint64_t step) { step_.Put(step); }
  void Level(std::uint8_t levels) { level_.Put(levels); }
  void Module(std::uint32_t name) { module_.Put(name); }
  void Owner(std::uint64_t owner) { owner_.Put(owner); }
  void HoldsName(std::uint32_t name);  // 0: not known
  void CountRecords(std::uint64_t records) { record_count_ += records; }

  // The address of the memory event before: what one without an address repeats.
  std::uint64_t last_address() const { return address_; }
  std::uint64_t next_record() const { return first_record_ + record_count_; }
  std::uint64_t events() const { return kind_.size(); }
  std::size_t bytes() const;     // encoded size so far
  std::size_t capacity() const;  // memory held
  void AddTo(std::string* payload) const;

 private:
  std::uint32_t thread_ = 0;
  std::uint64_t first_record_ = 0;
  std::uint64_t record_count_ = 0;
  std::uint64_t start_depth_ = 0;
  std::uint64_t first_tick_ = 0;
  // The values before, for deltas.
  std::uint64_t tick_ = 0;
  std::int64_t sequence_ = 0;
  std::uint64_t address_ = 0;
  std::uint64_t serial_ = 0;
  std::uint64_t stream_ = 0;
  bool any_device_ = false;
  bool any_pool_ = false;
  bool any_limit_ = false;
  bool any_holds_name_ = false;

  VarintColumn kind_, tick_delta_, name_, sequence_delta_, forward_thread_, signature_, tensor_, address_delta_,
      serial_delta_, device_, allocated_bytes_, mark_name_, step_, level_, module_, requested_, stream_delta_,
      pool_graph_, pool_user_, device_free_, statistic_, driver_call_, library_, driver_error_, reading_cause_,
      reading_, device_limit_, owner_, holds_name_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_RUN_COLUMNS_H_
