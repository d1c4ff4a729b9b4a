#include "tools/view/events/event_json.h"

#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

std::string_view CauseName(DeallocateCause cause) {
  switch (cause) {
    case DeallocateCause::kRecorded:
      return "recorded";
    case DeallocateCause::kReplaced:
      return "replaced";
    case DeallocateCause::kResync:
      return "resync";
    case DeallocateCause::kUnknown:
      return "unknown";
  }
  return "recorded";
}

}  // namespace

void EventJsonWriter::Flush() {
  if (!lines_.empty()) write_(lines_);
  lines_.clear();
}

void EventJsonWriter::Begin(std::string_view kind, const Event& event) {
  fmt::format_to(std::back_inserter(lines_), R"({{"event":"{}","process":{})", kind, event.process.value);
  if (event.thread.valid()) AddNumber("thread", state_->dictionary().thread(event.thread).number);
  AddNumber("time_ns", state_->Nanoseconds(event.process, event.tick));
  AddNumber("tick", event.tick);
}

void EventJsonWriter::End() {
  lines_ += "}\n";
  if (lines_.size() >= kFlushBytes) Flush();
}

void EventJsonWriter::AddText(std::string_view key, std::string_view text) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, Quoted(text));
}

void EventJsonWriter::AddName(std::string_view key, NameId name) {
  if (name.valid()) fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, QuotedName(name));
}

void EventJsonWriter::AddModule(ModuleId id, Phase phase) {
  if (id.valid()) {
    if (modules_.size() <= id.value) modules_.resize(id.value + 1);
    std::string& quoted = modules_[id.value];
    const Module& module = state_->dictionary().module(id);
    if (quoted.empty()) quoted = fmt::format(R"(,"module":{},"root":{})", Quoted(module.path), Quoted(module.root));
    lines_ += quoted;
  }
  AddText("phase", ToString(phase));
}

// The arguments that the operator writes to, as its schema says.
void EventJsonWriter::AddWritten(SchemaId schema) {
  if (!schema.valid()) return;
  const std::vector<bool>& written = state_->dictionary().schema(schema).argument_is_written;
  if (!written.empty()) lines_ += R"(,"written":)" + Json(written).dump();
}

void EventJsonWriter::AddNumber(std::string_view key, std::uint64_t number) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, number);
}

void EventJsonWriter::AddAddress(std::string_view key, std::uint64_t address) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":"0x{:x}")", key, address);
}

const std::string& EventJsonWriter::QuotedName(NameId name) {
  if (names_.size() <= name.value) names_.resize(name.value + 1);
  std::string& quoted = names_[name.value];
  if (quoted.empty()) quoted = Quoted(state_->dictionary().text(name));
  return quoted;
}

const std::string& EventJsonWriter::QuotedLayout(LayoutId id) {
  if (layouts_.size() <= id.value) layouts_.resize(id.value + 1);
  std::string& quoted = layouts_[id.value];
  if (!quoted.empty()) return quoted;
  const Layout& layout = state_->dictionary().layout(id);
  quoted = R"(,"dtype":)" + Quoted(layout.dtype_name);
  if (!layout.shape_unknown) quoted += R"(,"sizes":)" + Json(layout.sizes).dump();
  if (!layout.strides.empty()) quoted += R"(,"strides":)" + Json(layout.strides).dump();
  return quoted;
}

void EventJsonWriter::AddSignature(SignatureId id) {
  if (!id.valid()) return;
  const Signature& signature = state_->dictionary().signature(id);
  AddText("kinds", signature.kinds);
  if (!signature.list_lengths.empty()) lines_ += R"(,"list_lengths":)" + Json(signature.list_lengths).dump();
}

void EventJsonWriter::AddTensor(const Tensor& tensor) {
  if (tensor.impl == 0) {
    lines_ += "null";
    return;
  }
  fmt::format_to(std::back_inserter(lines_), R"({{"impl":"0x{:x}","storage":"0x{:x}","storage_bytes":{})", tensor.impl,
                 tensor.storage, tensor.storage_bytes);
  if (tensor.device.valid()) AddText("device", ToString(state_->dictionary().device(tensor.device)));
  if (tensor.layout.valid()) lines_ += QuotedLayout(tensor.layout);
  if (tensor.wants_gradient) lines_ += R"(,"wants_gradient":true)";
  if (tensor.unlisted) lines_ += R"(,"unlisted":true)";
  lines_ += '}';
}

void EventJsonWriter::AddTensors(absl::Span<const Tensor> tensors) {
  lines_ += R"(,"tensors":[)";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) lines_ += ',';
    AddTensor(tensors[i]);
  }
  lines_ += ']';
}

void EventJsonWriter::AddBlock(const Block& block) {
  if (block.device.valid()) AddText("device", ToString(state_->dictionary().device(block.device)));
  AddAddress("address", block.address);
  AddNumber("bytes", block.bytes);
  if (block.requested_bytes != 0) AddNumber("requested_bytes", block.requested_bytes);
  AddPlace(block);
  AddNumber("serial", block.serial);
  AddContext(block);
}

void EventJsonWriter::AddPlace(const Block& block) {
  if (block.stream != 0) AddAddress("stream", block.stream);
  if (block.pool_graph != 0 || block.pool_user != 0)
    fmt::format_to(std::back_inserter(lines_), R"(,"pool":[{},{}])", block.pool_graph, block.pool_user);
}

void EventJsonWriter::AddContext(const Block& block) {
  AddName("operator", block.operator_name);
  AddName("leaf", block.leaf_name);
  AddName("range", block.user_name);
  if (block.origin == BlockOrigin::kRecorded) AddModule(block.module, block.phase);
}

void EventJsonWriter::OnProcessBegin(const ProcessEvent& event) {
  const ProcessSummary& process = capture_.processes()[event.process.value];
  const v1::ProcessInfo& info = process.info;
  Begin("process_begin", event);
  if (process.is_rank) AddNumber("rank", info.rank());
  AddNumber("pid", info.pid());
  AddText("host", info.host());
  AddText("program", info.program());
  AddText("torch_version", info.torch_version());
  if (!info.simulated_device().empty()) AddText("simulated_device", info.simulated_device());
  End();
}

void EventJsonWriter::OnProcessEnd(const ProcessEvent& event) {
  Begin("process_end", event);
  End();
}

void EventJsonWriter::OnRangeBegin(const RangeBeginEvent& event) {
  Begin("range_begin", event);
  AddName("name", event.range->name);
  AddText("source", ToString(event.range->source));
  lines_ += event.range->is_operator ? R"(,"is_operator":true)" : R"(,"is_operator":false)";
  AddNumber("depth", event.range->depth);
  AddNumber("call", event.range->call);
  if (event.range->sequence >= 0) AddNumber("sequence", static_cast<std::uint64_t>(event.range->sequence));
  if (event.range->source == RangeSource::kBackward) AddNumber("forward_thread", event.range->forward_thread);
  AddModule(event.range->module, event.range->phase);
  AddSignature(event.signature);
  AddWritten(event.range->schema);
  AddTensors(event.tensors);
  End();
}

void EventJsonWriter::OnRangeEnd(const RangeEndEvent& event) {
  Begin("range_end", event);
  AddName("name", event.range->name);
  AddNumber("depth", event.range->depth);
  AddNumber("call", event.range->call);
  if (event.implicit) lines_ += R"(,"implicit":true)";
  AddSignature(event.signature);
  AddTensors(event.tensors);
  End();
}

void EventJsonWriter::OnAllocate(const AllocateEvent& event) {
  Begin("allocate", event);
  AddBlock(*event.block);
  if (event.block->origin == BlockOrigin::kKeyframe) lines_ += R"(,"from_keyframe":true)";
  if (event.block->origin == BlockOrigin::kFound) lines_ += R"(,"found":true)";
  End();
}

void EventJsonWriter::OnDeallocate(const DeallocateEvent& event) {
  Begin("deallocate", event);
  AddBlock(*event.block);
  AddText("cause", CauseName(event.cause));
  lines_ += event.temporary ? R"(,"temporary":true)" : R"(,"temporary":false)";
  End();
}

void EventJsonWriter::OnFreeCompleted(const FreeCompletedEvent& event) {
  Begin("free_completed", event);
  AddText("device", ToString(state_->dictionary().device(event.device)));
  AddAddress("address", event.address);
  AddNumber("bytes", event.bytes);
  AddNumber("requested_bytes", event.requested_bytes);
  End();
}

void EventJsonWriter::OnSegment(const SegmentEvent& event) {
  Begin(ToString(event.action), event);
  AddText("device", ToString(state_->dictionary().device(event.segment->device)));
  AddAddress("address", event.segment->address);
  AddNumber("bytes", event.segment->bytes);
  AddPlace(*event.segment);
  AddNumber("serial", event.segment->serial);
  AddContext(*event.segment);
  End();
}

void EventJsonWriter::OnOutOfMemory(const OutOfMemoryEvent& event) {
  Begin("out_of_memory", event);
  AddText("device", ToString(state_->dictionary().device(event.asked->device)));
  AddNumber("bytes", event.asked->bytes);
  AddNumber("device_free_bytes", event.device_free);
  if (event.device_limit) AddNumber("device_limit_bytes", *event.device_limit);
  AddPlace(*event.asked);
  AddNumber("serial", event.asked->serial);
  AddContext(*event.asked);
  End();
}

void EventJsonWriter::OnDeviceStatistics(const DeviceStatisticsEvent& event) {
  Begin("device_statistics", event);
  AddText("device", ToString(state_->dictionary().device(event.device)));
  AddNumber("allocated_bytes", event.allocated_bytes);
  AddNumber("active_bytes", event.active_bytes);
  AddNumber("reserved_bytes", event.reserved_bytes);
  AddNumber("num_alloc_retries", event.alloc_retries);
  AddNumber("num_ooms", event.ooms);
  End();
}

void EventJsonWriter::OnFirstSeen(const FirstSeenEvent& event) {
  Begin("first_seen", event);
  AddName("name", event.range->name);
  lines_ += event.as_result ? R"(,"as_result":true)" : R"(,"as_result":false)";
  lines_ += R"(,"tensor":)";
  AddTensor(*event.tensor);
  End();
}

void EventJsonWriter::OnMark(const MarkEvent& event) {
  Begin("mark", event);
  AddName("name", event.name);
  End();
}

void EventJsonWriter::OnStep(const StepEvent& event) {
  Begin("step", event);
  AddNumber("step", event.step);
  End();
}

void EventJsonWriter::OnSwitch(const SwitchEvent& event) {
  Begin(event.level < event.before ? "pause" : "resume", event);
  AddText("level", LevelName(event.level));
  AddText("before", LevelName(event.before));
  End();
}

void EventJsonWriter::OnLost(const LostEvent& event) {
  Begin("lost", event);
  AddNumber("records", event.records);
  AddNumber("chunks", event.chunks);
  End();
}

void EventJsonWriter::OnKeyframe(const KeyframeEvent& event) {
  Begin("keyframe", event);
  lines_ += event.at_start ? R"(,"at_start":true)" : R"(,"at_start":false)";
  if (event.after_evicted) lines_ += R"(,"after_evicted":true)";
  End();
}

}  // namespace memoir
