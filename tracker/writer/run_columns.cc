#include "tracker/writer/run_columns.h"

namespace memoir {

void RunColumns::Start(std::uint32_t thread, std::uint64_t first_record, std::uint64_t start_depth) {
  thread_ = thread;
  first_record_ = first_record;
  start_depth_ = start_depth;
  record_count_ = first_tick_ = tick_ = address_ = serial_ = stream_ = 0;
  sequence_ = 0;
  any_device_ = any_pool_ = any_limit_ = any_holds_name_ = false;
  for (VarintColumn* column :
       {&kind_,          &tick_delta_,    &name_,         &sequence_delta_, &forward_thread_,  &signature_,
        &tensor_,        &address_delta_, &serial_delta_, &device_,         &allocated_bytes_, &mark_name_,
        &step_,          &level_,         &module_,       &requested_,      &stream_delta_,    &pool_graph_,
        &pool_user_,     &device_free_,   &statistic_,    &driver_call_,    &library_,         &driver_error_,
        &reading_cause_, &reading_,       &device_limit_, &owner_,          &holds_name_}) {
    column->clear();
  }
}

void RunColumns::Event(EventKind kind, std::uint64_t tick) {
  if (kind_.empty()) first_tick_ = tick_ = tick;
  kind_.PutByte(static_cast<std::uint8_t>(kind));
  tick_delta_.Put(tick - tick_);
  tick_ = tick;
}

void RunColumns::Begin(std::uint32_t name, std::int64_t sequence) {
  name_.Put(name);
  sequence_delta_.PutDelta(static_cast<std::uint64_t>(sequence), static_cast<std::uint64_t>(sequence_));
  sequence_ = sequence;
}

void RunColumns::Block(std::uint64_t address, std::uint64_t serial, std::uint32_t device) {
  address_delta_.PutDelta(address, address_);
  serial_delta_.PutDelta(serial, serial_);
  device_.Put(device);
  address_ = address;
  serial_ = serial;
  any_device_ = any_device_ || device != 0;
}

void RunColumns::Place(const DevicePlace& place) {
  stream_delta_.PutDelta(place.stream, stream_);
  stream_ = place.stream;
  pool_graph_.Put(place.pool_graph);
  pool_user_.Put(place.pool_user);
  any_pool_ = any_pool_ || place.pool_graph != 0 || place.pool_user != 0;
}

void RunColumns::DeviceLimit(std::uint64_t bytes) {
  device_limit_.Put(bytes + 1);
  any_limit_ = any_limit_ || bytes != kNotKnown;
}

void RunColumns::HoldsName(std::uint32_t name) {
  holds_name_.Put(name);
  any_holds_name_ = any_holds_name_ || name != 0;
}

void RunColumns::DriverCall(std::uint8_t call, std::uint32_t library) {
  driver_call_.Put(call);
  library_.Put(library);
}

std::size_t RunColumns::bytes() const {
  const std::size_t device = any_device_ ? device_.size() : 0;
  const std::size_t pool = any_pool_ ? pool_graph_.size() + pool_user_.size() : 0;
  return kind_.size() + tick_delta_.size() + name_.size() + sequence_delta_.size() + forward_thread_.size() +
         signature_.size() + tensor_.size() + address_delta_.size() + serial_delta_.size() + device +
         allocated_bytes_.size() + mark_name_.size() + step_.size() + level_.size() + module_.size() +
         requested_.size() + stream_delta_.size() + pool + device_free_.size() + statistic_.size() + owner_.size() +
         driver_call_.size() + library_.size() + driver_error_.size() + reading_cause_.size() + reading_.size() +
         (any_limit_ ? device_limit_.size() : 0) + (any_holds_name_ ? holds_name_.size() : 0);
}

std::size_t RunColumns::capacity() const {
  return kind_.capacity() + tick_delta_.capacity() + name_.capacity() + sequence_delta_.capacity() +
         forward_thread_.capacity() + signature_.capacity() + tensor_.capacity() + address_delta_.capacity() +
         serial_delta_.capacity() + device_.capacity() + allocated_bytes_.capacity() + mark_name_.capacity() +
         step_.capacity() + level_.capacity() + module_.capacity() + requested_.capacity() + stream_delta_.capacity() +
         pool_graph_.capacity() + pool_user_.capacity() + device_free_.capacity() + statistic_.capacity() +
         driver_call_.capacity() + library_.capacity() + driver_error_.capacity() + reading_cause_.capacity() +
         reading_.capacity() + device_limit_.capacity() + owner_.capacity() + holds_name_.capacity();
}

void RunColumns::AddTo(std::string* payload) const {
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer run(message, field::payload::kRuns);
  run.add_uint32(field::run::kThread, thread_);
  run.add_uint64(field::run::kFirstRecord, first_record_);
  run.add_uint64(field::run::kRecordCount, record_count_);
  run.add_uint64(field::run::kStartDepth, start_depth_);
  run.add_uint64(field::run::kFirstTick, first_tick_);
  kind_.AddTo(run, field::run::kKind);
  tick_delta_.AddTo(run, field::run::kTickDelta);
  name_.AddTo(run, field::run::kName);
  sequence_delta_.AddTo(run, field::run::kSequenceDelta);
  forward_thread_.AddTo(run, field::run::kForwardThread);
  signature_.AddTo(run, field::run::kSignature);
  tensor_.AddTo(run, field::run::kTensor);
  address_delta_.AddTo(run, field::run::kAddressDelta);
  serial_delta_.AddTo(run, field::run::kSerialDelta);
  if (any_device_) device_.AddTo(run, field::run::kDevice);
  allocated_bytes_.AddTo(run, field::run::kBytes);
  mark_name_.AddTo(run, field::run::kMarkName);
  step_.AddTo(run, field::run::kStep);
  level_.AddTo(run, field::run::kLevel);
  module_.AddTo(run, field::run::kModule);
  owner_.AddTo(run, field::run::kOwner);
  requested_.AddTo(run, field::run::kRequestedBytes);
  stream_delta_.AddTo(run, field::run::kStreamDelta);
  if (any_pool_) pool_graph_.AddTo(run, field::run::kPoolGraph);
  if (any_pool_) pool_user_.AddTo(run, field::run::kPoolUser);
  device_free_.AddTo(run, field::run::kDeviceFree);
  statistic_.AddTo(run, field::run::kStatistic);
  driver_call_.AddTo(run, field::run::kDriverCall);
  library_.AddTo(run, field::run::kLibrary);
  driver_error_.AddTo(run, field::run::kDriverError);
  reading_cause_.AddTo(run, field::run::kReadingCause);
  reading_.AddTo(run, field::run::kReading);
  if (any_limit_) device_limit_.AddTo(run, field::run::kDeviceLimit);
  if (any_holds_name_) holds_name_.AddTo(run, field::run::kHoldsName);
}

}  // namespace memoir
