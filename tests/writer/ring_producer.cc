#include "tests/writer/ring_producer.h"

#include <algorithm>
#include <cstring>

#include "interpose/ring/ring.h"
#include "tracker/writer/events/event_kinds.h"

namespace memoir::test {
namespace {

std::size_t Pad(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::uint8_t DeviceType(const DeviceName& device) {
  if (device.first == "cuda") return 1;
  if (device.first == "xpu") return 12;
  return device.first == "meta" ? 14 : 0;
}

std::int8_t DeviceIndex(const DeviceName& device) {
  return device.first == "cpu" ? std::int8_t{-1} : static_cast<std::int8_t>(device.second);
}

RecordHeader Header(std::size_t bytes, RecordKind kind, std::size_t flags, std::uint16_t depth, std::size_t count) {
  return {static_cast<std::uint16_t>(bytes / 8), kind, static_cast<std::uint8_t>(flags), depth,
          static_cast<std::uint16_t>(count)};
}

std::size_t ArgumentBytes(const Event& event) {
  return Pad(Pad(event.kinds.size(), 4) + 4 * event.list_lengths.size(), 8);
}

template <typename Number>
void CopyAll(const std::vector<Number>& numbers, std::uint8_t* at) {
  if (!numbers.empty()) std::memcpy(at, numbers.data(), numbers.size() * sizeof(Number));
}

// The padding gets rubbish, as in a segment that was used before.
void WriteArguments(const Event& event, std::uint8_t* at) {
  std::memset(at, 0xab, ArgumentBytes(event));
  event.kinds.copy(reinterpret_cast<char*>(at), event.kinds.size());
  CopyAll(event.list_lengths, at + Pad(event.kinds.size(), 4));
}

template <typename Record>
void Store(std::uint8_t* at, const Record& record) {
  std::memcpy(at, &record, sizeof(record));
}

}  // namespace

std::uint8_t* RingProducer::Reserve(std::size_t bytes) {
  ThreadSlot* slot = RingThread();
  ++records_;
  return slot == nullptr ? nullptr : RingReserve(slot, bytes, OnEmptyPool::kWait);
}

void RingProducer::Commit(std::size_t bytes) { RingCommit(RingThread(), bytes); }

std::uint32_t RingProducer::Thread() { return RingThread()->thread; }

std::uint32_t RingProducer::OperatorId(const Event& event) {
  std::uint32_t& id = operators_[event.name];
  if (id == 0) {
    const std::vector<std::uint8_t> written(event.written.begin(), event.written.end());
    id = RingDefineOperator(event.name.c_str(), event.schema.c_str(), written.data(), written.size());
  }
  return id;
}

std::uint32_t RingProducer::ModuleId(const Event& event) {
  std::uint32_t& id = modules_[event.module_root + "/" + event.name + "/" + event.module_class];
  if (id == 0) id = RingDefineModule(event.module_root.c_str(), event.name.c_str(), event.module_class.c_str());
  return id;
}

bool RingProducer::RecordBegin(const Event& event) {
  const bool is_inline = inline_operators_ || event.schema.empty();
  const std::size_t bytes =
      sizeof(RangeBeginRecord) + ArgumentBytes(event) + (is_inline ? Pad(event.name.size(), 8) : 0);
  const std::uint32_t id = is_inline ? static_cast<std::uint32_t>(event.name.size()) : OperatorId(event);
  std::uint8_t* at = Reserve(bytes);
  const std::uint16_t depth = depth_++;
  if (at == nullptr) return false;
  const auto source = static_cast<std::size_t>(event.kind) - static_cast<std::size_t>(EventKind::kRangeBeginFunction);
  RangeBeginRecord record{};
  record.header =
      Header(bytes, RecordKind::kRangeBegin, source | (is_inline ? kInlineName : 0), depth, event.kinds.size());
  record.tick = event.tick;
  record.sequence = event.sequence;
  record.name = id;
  record.tensor_count = static_cast<std::uint32_t>(event.tensors.size());
  record.list_count = static_cast<std::uint32_t>(event.list_lengths.size());
  record.forward_thread = static_cast<std::uint32_t>(event.forward_thread);
  Store(at, record);
  WriteArguments(event, at + sizeof(record));
  if (is_inline)
    event.name.copy(reinterpret_cast<char*>(at + sizeof(record) + ArgumentBytes(event)), event.name.size());
  Commit(bytes);
  return RecordTensors(event);
}

// A record that is nothing but values and the text behind them: the rest of `record` is filled in.
template <class Struct>
bool RingProducer::RecordValues(const Event& event, Struct record, RecordKind kind, std::size_t flags,
                                const std::string& behind) {
  const std::size_t bytes = sizeof(record) + ArgumentBytes(event) + Pad(behind.size(), 8);
  std::uint8_t* at = Reserve(bytes);
  if (at == nullptr) return false;
  record.header = Header(bytes, kind, flags, depth_, event.kinds.size());
  record.tick = event.tick;
  record.tensor_count = static_cast<std::uint32_t>(event.tensors.size());
  record.list_count = static_cast<decltype(record.list_count)>(event.list_lengths.size());
  Store(at, record);
  WriteArguments(event, at + sizeof(record));
  std::memset(at + sizeof(record) + ArgumentBytes(event), 0xab, bytes - sizeof(record) - ArgumentBytes(event));
  behind.copy(reinterpret_cast<char*>(at + sizeof(record) + ArgumentBytes(event)), behind.size());
  Commit(bytes);
  return RecordTensors(event);
}

bool RingProducer::RecordEnd(const Event& event) {
  --depth_;
  return RecordValues(event, RangeEndRecord{}, RecordKind::kRangeEnd, 0);
}

// As hooks do: what has not changed since the record before is not said again, but in another segment all is.
bool RingProducer::RecordStack(const Event& event) {
  std::uint8_t* at = Reserve(sizeof(StackRecord) + event.frames.size() * sizeof(StackFrame));
  if (at == nullptr) return false;
  const auto different = std::mismatch(event.frames.begin(), event.frames.end(), stack_.begin(), stack_.end()).first;
  const auto kept = RingThread()->stack_is_known == 0 ? event.frames.begin() : different;
  const auto count = static_cast<std::size_t>(event.frames.end() - kept);
  const std::size_t bytes = sizeof(StackRecord) + count * sizeof(StackFrame);
  Store(at, StackRecord{Header(bytes, RecordKind::kStack, 0, depth_, count), event.tick,
                        static_cast<std::uint32_t>(kept - event.frames.begin()), 0});
  at += sizeof(StackRecord);
  for (auto frame = kept; frame != event.frames.end(); ++frame, at += sizeof(StackFrame)) {
    std::uint32_t& code = codes_[frame->file + "\n" + frame->function];
    if (code == 0) code = RingDefineCode(frame->file.c_str(), frame->function.c_str());
    Store(at, StackFrame{code, frame->line});
  }
  Commit(bytes);
  RingThread()->stack_is_known = 1;
  stack_ = event.frames;
  return true;
}

bool RingProducer::RecordCall(const Event& event) {
  std::uint8_t* at = Reserve(sizeof(CallRecord));
  if (at == nullptr) return false;
  const bool begins = static_cast<EventKind>(event.kind) == EventKind::kCallBegin;
  std::uint32_t code = 0;
  if (begins) {
    const FrameSeen& called = event.frames.front();
    std::uint32_t& known = codes_[called.file + "\n" + called.function];
    if (known == 0) known = RingDefineCode(called.file.c_str(), called.function.c_str());
    code = known;
  }
  const RecordKind kind = begins ? RecordKind::kCallBegin : RecordKind::kCallEnd;
  Store(at, CallRecord{Header(sizeof(CallRecord), kind, 0, depth_, 0), event.tick, code, event.level});
  Commit(sizeof(CallRecord));
  return true;
}

bool RingProducer::RecordHolds(const Event& event) {
  const auto kind = static_cast<EventKind>(event.kind);
  HoldsRecord record{};
  record.owner = kind == EventKind::kModuleHolds ? ModuleId(event) : event.owner;
  const HolderKind holder = kind == EventKind::kModuleHolds      ? HolderKind::kModule
                            : kind == EventKind::kOptimizerHolds ? HolderKind::kOptimizer
                            : kind == EventKind::kGradientOf     ? HolderKind::kGradient
                                                                 : HolderKind::kMore;
  std::string names;
  for (const std::string& name : event.held_names) names += name + std::string(1, '\0');
  while (names.ends_with(std::string(2, '\0'))) names.pop_back();  // what is not known at the end may be missing
  record.name_bytes = static_cast<std::uint16_t>(names.size());
  return RecordValues(event, record, RecordKind::kHolds, static_cast<std::size_t>(holder), names);
}

bool RingProducer::RecordTensors(const Event& event) {
  bool all = true;
  for (const auto& tensor : event.tensors) all = RecordTensor(tensor) && all;
  return all;
}

bool RingProducer::RecordTensor(const std::optional<TensorSeen>& tensor) {
  const TensorSeen seen = tensor.value_or(TensorSeen{});
  const std::size_t bytes = sizeof(TensorRecord) + 8 * (seen.sizes.size() + seen.strides.size());
  std::uint8_t* at = Reserve(bytes);
  if (at == nullptr) return false;
  const std::size_t flags = (seen.strides.empty() ? kContiguous : 0) | (seen.has_storage ? kHasStorage : 0) |
                            (seen.shape_unknown ? kShapeUnknown : 0) | (seen.wants_gradient ? kWantsGradient : 0) |
                            (seen.unlisted ? kUnlisted : 0);
  TensorRecord record{};
  record.header = Header(bytes, RecordKind::kTensor, flags, depth_, 0);
  record.impl = tensor.has_value() ? seen.impl : 0;
  record.storage = seen.storage;
  record.storage_bytes = seen.storage_bytes;
  record.dtype = static_cast<std::uint8_t>(seen.dtype);
  record.device_type = DeviceType(seen.device);
  record.device_index = DeviceIndex(seen.device);
  record.ndim = static_cast<std::uint8_t>(seen.sizes.size());
  Store(at, record);
  CopyAll(seen.sizes, at + sizeof(record));
  CopyAll(seen.strides, at + sizeof(record) + 8 * seen.sizes.size());
  Commit(bytes);
  return true;
}

namespace {

bool IsDriver(EventKind kind) { return kind >= EventKind::kDriverAllocate && kind <= EventKind::kDeviceReading; }

// As hooks write it: cut, full without its zero.
void CopyLibrary(const std::string& text, char (&library)[kMaxLibraryName]) { text.copy(library, kMaxLibraryName); }

template <typename Record>
Record DriverRecord(const Event& event, RecordKind kind, std::uint32_t flags, std::uint16_t depth) {
  Record record{};
  record.header = Header(sizeof(Record), kind, flags, depth, 0);
  record.tick = event.tick;
  record.serial = event.serial;
  record.device_type = DeviceType(event.device);
  record.device_index = DeviceIndex(event.device);
  return record;
}

}  // namespace

bool RingProducer::RecordDriver(const Event& event) {
  const auto store = [this](const auto& record) {
    std::uint8_t* at = Reserve(sizeof record);
    if (at == nullptr) return false;
    Store(at, record);
    Commit(sizeof record);
    return true;
  };
  switch (static_cast<EventKind>(event.kind)) {
    case EventKind::kDriverAllocate: {
      auto record = DriverRecord<DriverBlockRecord>(event, RecordKind::kDriverAllocate, event.driver_call, depth_);
      record.address = event.address;
      record.bytes = event.bytes;
      CopyLibrary(event.library, record.library);
      return store(record);
    }
    case EventKind::kDriverFree: {
      auto record = DriverRecord<DeallocateRecord>(event, RecordKind::kDriverFree, 0, depth_);
      record.address = event.address;
      return store(record);
    }
    case EventKind::kDriverRefused: {
      auto record = DriverRecord<DriverRefusedRecord>(event, RecordKind::kDriverRefused, event.driver_call, depth_);
      record.bytes = event.bytes;
      record.device_free = event.device_free;
      record.error = event.driver_error;
      CopyLibrary(event.library, record.library);
      return store(record);
    }
    default: {
      auto record = DriverRecord<DeviceReadingRecord>(event, RecordKind::kDeviceReading, event.reading_cause, depth_);
      record.free_bytes = event.reading[0];
      record.total_bytes = event.reading[1];
      record.process_bytes = event.reading[2];
      record.other_processes_bytes = event.reading[3];
      record.pool_bytes = event.reading[4];
      return store(record);
    }
  }
}

bool RingProducer::RecordDeviceCall(const Event& event) {
  const auto store = [this](const auto& record) {
    std::uint8_t* at = Reserve(sizeof record);
    if (at == nullptr) return false;
    Store(at, record);
    Commit(sizeof record);
    return true;
  };
  std::uint32_t& kernel = kernels_[event.name];
  if (kernel == 0 && !event.name.empty()) kernel = RingDefineOperator(event.name.c_str(), nullptr, nullptr, 0);
  if (static_cast<EventKind>(event.kind) == EventKind::kKernelRun) {
    KernelRunRecord record{};
    record.header = Header(sizeof record, RecordKind::kKernelRun, event.run_kind, depth_, 0);
    record.tick = event.tick;
    record.begin = event.tick - event.run_age;
    record.ns = event.run_ns;
    record.bytes = event.bytes;
    record.correlation = event.correlation;
    record.kernel = kernel;
    record.stream = event.run_stream;
    record.device_index = DeviceIndex(event.device);
    record.copy_kind = static_cast<std::uint8_t>(event.copy_kind);
    return store(record);
  }
  if (static_cast<EventKind>(event.kind) == EventKind::kDeviceCall) {
    DeviceCallRecord record{};
    record.header = Header(sizeof record, RecordKind::kDeviceCall, event.device_call, depth_, 0);
    record.tick = event.tick;
    record.stream = event.stream;
    record.bytes = event.bytes;
    record.graph = event.graph;
    record.graph_exec = event.graph_exec;
    record.ticks = event.call_ticks;
    record.result = static_cast<std::uint16_t>(event.call_result);
    record.device_index = DeviceIndex(event.device);
    record.copy_kind = static_cast<std::uint8_t>(event.copy_kind);
    record.correlation = event.correlation;
    return store(record);
  }
  KernelLaunchRecord record{};
  record.header = Header(sizeof record, RecordKind::kKernelLaunch, event.device_call, depth_, 0);
  record.tick = event.tick;
  record.stream = event.stream;
  record.kernel = kernel;
  record.correlation = event.correlation;
  std::copy_n(event.grid.begin(), 3, record.grid);
  std::copy_n(event.grid.begin() + 3, 3, record.block);
  record.result = static_cast<std::uint16_t>(event.call_result);
  record.device_index = DeviceIndex(event.device);
  return store(record);
}

namespace {

bool IsSwitch(EventKind kind) { return kind == EventKind::kPause || kind == EventKind::kResume; }

}  // namespace

bool RingProducer::Record(const Event& event) {
  const auto kind = static_cast<EventKind>(event.kind);
  if (kind <= EventKind::kRangeBeginDispatch) return RecordBegin(event);
  if (kind == EventKind::kRangeEnd) return RecordEnd(event);
  if (IsDriver(kind)) return RecordDriver(event);
  if (kind >= EventKind::kModuleHolds && kind <= EventKind::kHoldsMore) return RecordHolds(event);
  if (kind == EventKind::kGradientOf) return RecordHolds(event);
  if (kind == EventKind::kStack) return RecordStack(event);
  if (kind == EventKind::kCallBegin || kind == EventKind::kCallEnd) return RecordCall(event);
  if (kind == EventKind::kKernelLaunch || kind == EventKind::kDeviceCall || kind == EventKind::kKernelRun)
    return RecordDeviceCall(event);
  const std::size_t bytes = kind == EventKind::kAllocate     ? sizeof(AllocateRecord)
                            : kind == EventKind::kDeallocate ? sizeof(DeallocateRecord)
                            : IsSwitch(kind)                 ? sizeof(SwitchRecord)
                            : kind == EventKind::kMark       ? sizeof(MarkRecord) + Pad(event.name.size(), 8)
                                                             : sizeof(StepRecord);
  std::uint8_t* at = Reserve(bytes);
  if (at == nullptr) return false;
  const std::uint8_t type = DeviceType(event.device);
  const std::int8_t index = DeviceIndex(event.device);
  switch (kind) {
    case EventKind::kAllocate:
      Store(at, AllocateRecord{Header(bytes, RecordKind::kAllocate, 0, depth_, 0), event.tick, event.address,
                               event.bytes, event.serial, type, index, 0, 0});
      break;
    case EventKind::kDeallocate:
      Store(at, DeallocateRecord{Header(bytes, RecordKind::kDeallocate, 0, depth_, 0), event.tick, event.address,
                                 event.serial, type, index, 0, 0});
      break;
    case EventKind::kMark:
      Store(at, MarkRecord{Header(bytes, RecordKind::kMark, 0, depth_, 0), event.tick, event.name.size()});
      event.name.copy(reinterpret_cast<char*>(at + sizeof(MarkRecord)), event.name.size());
      break;
    case EventKind::kPause:
    case EventKind::kResume:
      depth_ = 0;
      Store(at, SwitchRecord{Header(bytes, kind == EventKind::kPause ? RecordKind::kPause : RecordKind::kResume,
                                    event.level, depth_, 0),
                             event.tick});
      break;
    case EventKind::kModuleEnter:
    case EventKind::kModuleExit: {
      const bool enter = kind == EventKind::kModuleEnter;
      const RecordKind record = enter ? RecordKind::kModuleEnter : RecordKind::kModuleExit;
      Store(at, ModuleRecord{Header(bytes, record, 0, depth_, 0), event.tick, ModuleId(event), 0});
      break;
    }
    default:
      Store(at, StepRecord{Header(bytes, RecordKind::kStep, 0, depth_, 0), event.tick, event.step});
  }
  Commit(bytes);
  return true;
}

}  // namespace memoir::test
