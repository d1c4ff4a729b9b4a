#include "tests/captures/capture_builder.h"

#include <algorithm>
#include <utility>

#include "tests/captures/capture_encoding.h"

namespace memoir::testing {
ProcessBuilder::ProcessBuilder(ProcessOptions options) : options_(std::move(options)), tick_(options_.start_tick) {
  info_.set_format_version(1);
  info_.set_pid(options_.pid);
  info_.set_host(options_.host);
  info_.set_rank(options_.rank);
  info_.set_world_size(options_.world_size);
  info_.set_restart(options_.restart);
  info_.set_rank_source(options_.world_size > 1 ? "torchrun" : "none");
  info_.set_program(options_.program);
  info_.set_memoir_version("0.1.0");
  info_.set_torch_version("2.11.0");
  info_.set_python_version("3.11.2");
  *info_.mutable_start() = ClockAt(options_.start_tick, options_);
  info_.set_ticks_per_second(1'000'000'000);
  info_.set_ring_path(options_.ring_path);
  for (const std::string& source : options_.sources) info_.add_sources(source);
  end_.set_reason(v1::End::EXITED);
  v1::DeviceDef cpu;
  cpu.set_type("cpu");
  devices_.push_back(cpu);
  chunk_offsets_.emplace_back();
  parts_.emplace_back();
  indices_.emplace_back();
  StartChunk(true);
}

ProcessBuilder& ProcessBuilder::OnThread(std::uint32_t thread) {
  thread_ = thread;
  return *this;
}

ProcessBuilder& ProcessBuilder::NameThread(std::uint32_t thread, std::string name) {
  threads_[thread].name = std::move(name);
  return *this;
}

ProcessBuilder& ProcessBuilder::WorksFor(std::uint32_t thread, std::uint32_t owner) {
  threads_[thread].works_for = owner;
  return *this;
}

ProcessBuilder& ProcessBuilder::AtTick(std::uint64_t tick) {
  tick_ = tick;
  return *this;
}

std::uint32_t ProcessBuilder::AddDevice(const std::string& type, std::uint32_t index, const std::string& product) {
  v1::DeviceDef device;
  device.set_id(static_cast<std::uint32_t>(devices_.size()));
  device.set_type(type);
  device.set_index(index);
  device.set_product(product);
  devices_.push_back(device);
  return device.id();
}

v1::ThreadRun& ProcessBuilder::AddEvent(v1::EventKind kind, std::uint64_t tensors) {
  if (options_.chunk_events != 0 && chunk_event_count_ == options_.chunk_events) EndChunk();
  Thread& on = thread();
  v1::ThreadRun& run = on.run;
  if (run.kind().empty()) {
    run.set_thread(thread_);
    run.set_first_record(on.next_record);
    run.set_start_depth(static_cast<std::uint32_t>(on.stack.size()));
    run.set_start_stack(StackIdOf(on.python));
    run.set_first_tick(tick_);
    on.last_tick = tick_;
    on.last_address = on.last_serial = on.last_correlation = 0;
    on.last_sequence = 0;
    on.devices.clear();
  }
  run.mutable_kind()->push_back(static_cast<char>(kind));
  run.add_tick_delta(tick_ - on.last_tick);
  run.set_record_count(run.record_count() + 1 + tensors);
  on.next_record += 1 + tensors;
  on.last_tick = tick_;
  ++events_;
  ++chunk_event_count_;
  return run;
}

std::uint32_t ProcessBuilder::NameIdOf(const std::string& text, bool is_operator) {
  const auto next = static_cast<std::uint32_t>(names_.size() + 1);
  const std::uint32_t id = names_.try_emplace({is_operator, text}, next).first->second;
  if (!std::exchange(defined_[{kName, id}], true)) {
    v1::NameDef* name = payload_.add_names();
    name->set_id(id);
    name->set_hash(Hash((is_operator ? "\1" : "\0") + text));
    name->set_kind(is_operator ? v1::NameDef::OPERATOR : v1::NameDef::TEXT);
    name->set_text(text);
    if (is_operator) name->set_schema(text + "(...) -> Tensor");
  }
  return id;
}

ProcessBuilder& ProcessBuilder::Redefine(const std::string& operator_name, const std::string& schema,
                                         const std::vector<bool>& written) {
  const auto id = static_cast<std::uint32_t>(names_.size() + 1);
  names_[{true, "earlier " + operator_name}] = std::exchange(names_[{true, operator_name}], id);
  defined_[{kName, id}] = true;
  v1::NameDef* name = payload_.add_names();
  name->set_id(id);
  name->set_hash(Hash("\1" + operator_name));
  name->set_kind(v1::NameDef::OPERATOR);
  name->set_text(operator_name);
  name->set_schema(schema);
  for (const bool is_written : written) name->add_argument_is_written(is_written);
  return *this;
}

std::uint32_t ProcessBuilder::LayoutIdOf(const TensorSpec& tensor) {
  std::string key = tensor.dtype_name;
  for (const std::int64_t size : tensor.sizes) key += "," + std::to_string(size);
  const auto next = static_cast<std::uint32_t>(layouts_.size() + 1);
  const std::uint32_t id = layouts_.try_emplace(key, next).first->second;
  if (!std::exchange(defined_[{kLayout, id}], true)) {
    v1::LayoutDef* layout = payload_.add_layouts();
    layout->set_id(id);
    layout->set_hash(Hash(key));
    layout->set_dtype(6);
    layout->set_dtype_name(tensor.dtype_name);
    layout->mutable_sizes()->Assign(tensor.sizes.begin(), tensor.sizes.end());
    layout->set_has_storage(true);
  }
  return id;
}

std::uint32_t ProcessBuilder::SignatureIdOf(const std::string& kinds, const std::vector<std::size_t>& list_lengths) {
  std::string key = kinds;
  for (const std::size_t length : list_lengths) key += "," + std::to_string(length);
  const auto next = static_cast<std::uint32_t>(signatures_.size() + 1);
  const std::uint32_t id = signatures_.try_emplace(key, next).first->second;
  if (!std::exchange(defined_[{kSignature, id}], true)) {
    v1::SignatureDef* signature = payload_.add_signatures();
    signature->set_id(id);
    signature->set_kinds(kinds);
    for (const std::size_t length : list_lengths) signature->add_list_lengths(static_cast<std::uint32_t>(length));
  }
  return id;
}

void ProcessBuilder::AddTensors(v1::ThreadRun& run, const std::vector<TensorSpec>& tensors) {
  const std::size_t count = tensors.size();
  // One tensor stands alone; several are half list, so that both ways are read.
  run.add_signature(count == 0    ? 0
                    : positional_ ? SignatureIdOf(std::string(count, 'T'), {})
                    : count == 1  ? SignatureIdOf("Ti", {})
                                  : SignatureIdOf("TNL", {count - 1}));
  payload_.mutable_tensors();  // also without tensors, as an empty table
  for (const TensorSpec& tensor : tensors) AddTensor(run, tensor);
}

void ProcessBuilder::AddTensor(v1::ThreadRun& run, const TensorSpec& tensor) {
  if (tensor.impl == 0) return run.add_tensor(0);
  v1::TensorTable* table = payload_.mutable_tensors();
  const std::uint32_t layout = LayoutIdOf(tensor);
  const std::uint32_t traits = (tensor.wants_gradient ? 1u : 0u) | (tensor.unlisted ? 2u : 0u);
  const auto next = static_cast<std::uint32_t>(tensor_rows_.size() + 1);
  const auto [row, added] = tensor_rows_.try_emplace(
      {tensor.impl, tensor.storage, tensor.storage_bytes, layout, tensor.device, traits}, next);
  run.add_tensor(row->second);
  if (!added) return;
  table->add_impl_delta(Difference(tensor.impl, last_impl_));
  table->add_storage_delta(Difference(tensor.storage, last_storage_));
  table->add_storage_bytes(tensor.storage_bytes);
  table->add_layout(layout);
  table->add_device(tensor.device);
  table->add_traits(traits);
}

ProcessBuilder& ProcessBuilder::BeginRange(v1::EventKind kind, const std::string& name, bool is_operator,
                                           std::int64_t sequence, std::uint64_t forward_thread,
                                           const std::vector<TensorSpec>& arguments) {
  Thread& on = thread();
  bool inside_operator =
      std::any_of(on.stack.begin(), on.stack.end(), [](const OpenRange& r) { return r.is_operator; });
  std::uint32_t id = 0;
  if (recording_) {
    v1::ThreadRun& run = AddEvent(kind, arguments.size());
    id = NameIdOf(name, is_operator);
    run.add_name(id);
    run.add_sequence_delta(sequence - on.last_sequence);
    on.last_sequence = sequence;
    if (kind == v1::RANGE_BEGIN_BACKWARD) run.add_forward_thread(forward_thread);
    AddTensors(run, arguments);
  } else {
    id = NameIdOf(name, is_operator);
  }
  if (is_operator) {
    v1::OperatorTotals& totals = operators_[id];
    totals.set_count(totals.count() + 1);
    if (!inside_operator) totals.set_outermost_count(totals.outermost_count() + 1);
  }
  on.stack.push_back({kind, id, is_operator, tick_});
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::Begin(const std::string& operator_name, const std::vector<TensorSpec>& arguments) {
  return BeginRange(v1::RANGE_BEGIN_FUNCTION, operator_name, true, -1, 0, arguments);
}
ProcessBuilder& ProcessBuilder::BeginUser(const std::string& name) {
  return BeginRange(v1::RANGE_BEGIN_USER, name, false, -1, 0, {});
}
ProcessBuilder& ProcessBuilder::BeginNvtx(const std::string& name) {
  return BeginRange(v1::RANGE_BEGIN_NVTX, name, false, -1, 0, {});
}
ProcessBuilder& ProcessBuilder::BeginBackward(const std::string& node, std::int64_t sequence,
                                              std::uint64_t forward_thread) {
  return BeginRange(v1::RANGE_BEGIN_BACKWARD, node, false, sequence, forward_thread, {});
}
ProcessBuilder& ProcessBuilder::BeginText(const std::string& name) {
  return BeginRange(v1::RANGE_BEGIN_FUNCTION, name, false, -1, 0, {});
}
ProcessBuilder& ProcessBuilder::BeginDispatch(const std::string& operator_name) {
  return BeginRange(v1::RANGE_BEGIN_DISPATCH, operator_name, true, -1, 0, {});
}

ProcessBuilder& ProcessBuilder::End(const std::vector<TensorSpec>& results) {
  if (recording_) AddTensors(AddEvent(v1::RANGE_END, results.size()), results);
  thread().stack.pop_back();
  tick_ += options_.tick_step;
  return *this;
}

void ProcessBuilder::Track(bool allocate, std::uint64_t serial, std::uint64_t address, std::uint64_t bytes,
                           std::uint32_t device) {
  v1::DeviceTotals& totals = totals_[device];
  totals.set_device(device);
  if (allocate) {
    const std::vector<OpenRange>& stack = thread().stack;
    const auto outermost = std::find_if(stack.begin(), stack.end(), [](const OpenRange& r) { return r.is_operator; });
    const Live block{bytes,
                     serial,
                     tick_,
                     thread_,
                     outermost == stack.end() ? 0 : outermost->name,
                     stack.empty() ? 0 : stack.back().name,
                     thread().python};
    live_[{device, address}] = block;
    totals.set_live_bytes(totals.live_bytes() + bytes);
    totals.set_live_blocks(totals.live_blocks() + 1);
    totals.set_allocations(totals.allocations() + 1);
    totals.set_allocated_bytes(totals.allocated_bytes() + bytes);
    if (totals.live_bytes() > totals.peak_bytes()) {
      totals.set_peak_bytes(totals.live_bytes());
      totals.set_peak_tick(tick_);
    }
    v1::OperatorTotals& by_operator = operators_[block.operator_name];
    by_operator.set_allocations(by_operator.allocations() + 1);
    by_operator.set_allocated_bytes(by_operator.allocated_bytes() + bytes);
    return;
  }
  const auto found = live_.find({device, address});
  if (found == live_.end()) return;
  totals.set_live_bytes(totals.live_bytes() - found->second.bytes);
  totals.set_live_blocks(totals.live_blocks() - 1);
  totals.set_deallocations(totals.deallocations() + 1);
  v1::OperatorTotals& by_operator = operators_[found->second.operator_name];
  by_operator.set_deallocated_bytes(by_operator.deallocated_bytes() + found->second.bytes);
  live_.erase(found);
}

ProcessBuilder& ProcessBuilder::AddAllocator(v1::EventKind kind, std::uint64_t serial, std::uint64_t address,
                                             std::uint64_t bytes, std::uint32_t device) {
  if (recording_) {
    v1::ThreadRun& run = AddEvent(kind);
    Thread& on = thread();
    run.add_address_delta(Difference(address, on.last_address));
    run.add_serial_delta(Difference(serial, on.last_serial));
    on.devices.push_back(device);
    if (kind == v1::ALLOCATE) run.add_bytes(bytes);
  }
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::Allocate(std::uint64_t address, std::uint64_t bytes, std::uint32_t device) {
  Track(true, serial_, address, bytes, device);
  return AddAllocator(v1::ALLOCATE, serial_++, address, bytes, device);
}
ProcessBuilder& ProcessBuilder::Deallocate(std::uint64_t address, std::uint32_t device) {
  Track(false, serial_, address, 0, device);
  return AddAllocator(v1::DEALLOCATE, serial_++, address, 0, device);
}
ProcessBuilder& ProcessBuilder::AllocateAs(std::uint64_t serial, std::uint64_t address, std::uint64_t bytes,
                                           std::uint32_t device) {
  serial_ = std::max(serial_, serial + 1);
  return AddAllocator(v1::ALLOCATE, serial, address, bytes, device);
}
ProcessBuilder& ProcessBuilder::DeallocateAs(std::uint64_t serial, std::uint64_t address, std::uint32_t device) {
  serial_ = std::max(serial_, serial + 1);
  return AddAllocator(v1::DEALLOCATE, serial, address, 0, device);
}

std::uint32_t ProcessBuilder::ModuleIdOf(const std::string& root, const std::string& path,
                                         const std::string& class_name) {
  const std::string key = root + std::string(1, '\0') + path + std::string(1, '\0') + class_name;
  const auto next = static_cast<std::uint32_t>(names_.size() + 1);
  const std::uint32_t id = names_.try_emplace({false, "\2" + key}, next).first->second;
  if (std::exchange(defined_[{kName, id}], true)) return id;
  v1::NameDef* name = payload_.add_names();
  name->set_id(id);
  name->set_hash(Hash("\2" + key));
  name->set_kind(v1::NameDef::MODULE);
  name->set_text(path);
  name->set_module_class(class_name);
  name->set_module_root(root);
  return id;
}

ProcessBuilder& ProcessBuilder::AddModule(v1::EventKind kind, std::uint32_t module) {
  AddEvent(kind).add_module(module);
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::EnterModule(const std::string& path, const std::string& class_name,
                                            const std::string& root) {
  return AddModule(v1::MODULE_ENTER, ModuleIdOf(root, path, class_name));
}

ProcessBuilder& ProcessBuilder::ExitModule(const std::string& path, const std::string& class_name,
                                           const std::string& root) {
  return AddModule(v1::MODULE_EXIT, ModuleIdOf(root, path, class_name));
}

ProcessBuilder& ProcessBuilder::BeginForward(const std::string& operator_name, std::int64_t sequence,
                                             const std::vector<TensorSpec>& arguments) {
  positional_ = true;
  BeginRange(v1::RANGE_BEGIN_FUNCTION, operator_name, true, sequence, 0, arguments);
  positional_ = false;
  return *this;
}

ProcessBuilder& ProcessBuilder::Mark(const std::string& name) {
  v1::ThreadRun& run = AddEvent(v1::MARK);
  run.add_mark_name(NameIdOf(name, false));
  tick_ += options_.tick_step;
  return *this;
}
ProcessBuilder& ProcessBuilder::Step(std::uint64_t step) {
  AddEvent(v1::STEP).add_step(step);
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::SwitchTo(v1::RecordingLevel level) {
  const auto bits = static_cast<std::uint32_t>(level) + 4 * static_cast<std::uint32_t>(level_);
  AddEvent(level < level_ ? v1::PAUSE : v1::RESUME).add_level(bits);
  // A run's depth is followed from its start; what others had open shows in their next one.
  EndChunk();
  for (auto& [number, any] : threads_) any.stack.clear();
  while (level_ == v1::LEVEL_OFF && !live_.empty()) {
    const auto [device, address] = live_.begin()->first;
    const std::uint64_t deallocations = totals_[device].deallocations();
    Track(false, serial_, address, 0, device);
    totals_[device].set_deallocations(deallocations);
  }
  if (level_ == v1::LEVEL_OFF) driver_.clear();
  level_ = level;
  tick_ += options_.tick_step;
  return *this;
}

ProcessBuilder& ProcessBuilder::LoseRecords(std::uint64_t records) {
  // A run holds consecutive records, so the loss ends it.
  if (!thread().run.kind().empty()) EndChunk();
  thread().next_record += records;
  return *this;
}

}  // namespace memoir::testing
