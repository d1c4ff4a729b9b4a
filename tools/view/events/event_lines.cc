#include "tools/view/events/event_lines.h"

#include <iterator>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

}  // namespace

void EventLines::Flush() {
  if (!lines_.empty()) write_(lines_);
  lines_.clear();
}

void EventLines::Begin(std::string_view kind, const Event& event) {
  fmt::format_to(std::back_inserter(lines_), R"({{"event":"{}","process":{})", kind, event.process.value);
  if (event.thread.valid()) AddNumber("thread", state_->dictionary().thread(event.thread).number);
  AddNumber("time_ns", state_->Nanoseconds(event.process, event.tick));
  AddNumber("tick", event.tick);
}

void EventLines::End() {
  lines_ += "}\n";
  if (lines_.size() >= kFlushBytes) Flush();
}

void EventLines::AddText(std::string_view key, std::string_view text) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, Quoted(text));
}

void EventLines::AddNumber(std::string_view key, std::uint64_t number) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, number);
}

void EventLines::AddAddress(std::string_view key, std::uint64_t address) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":"0x{:x}")", key, address);
}

void EventLines::AddBool(std::string_view key, bool value) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, value);
}

void EventLines::AddNumberOrNull(std::string_view key, const std::optional<std::uint64_t>& number) {
  if (number) return AddNumber(key, *number);
  AddNull(key);
}

void EventLines::AddNumbers(std::string_view key, absl::Span<const std::uint32_t> numbers) {
  fmt::format_to(std::back_inserter(lines_), R"(,"{}":[{}])", key, fmt::join(numbers, ","));
}

void EventLines::AddNull(std::string_view key) { fmt::format_to(std::back_inserter(lines_), R"(,"{}":null)", key); }

void EventLines::AddDevice(DeviceId device) { AddText("device", ToString(state_->dictionary().device(device))); }

void EventLines::AddName(std::string_view key, NameId name) {
  if (name.valid()) fmt::format_to(std::back_inserter(lines_), R"(,"{}":{})", key, QuotedName(name));
}

const std::string& EventLines::QuotedName(NameId name) {
  if (names_.size() <= name.value) names_.resize(name.value + 1);
  std::string& quoted = names_[name.value];
  if (quoted.empty()) quoted = Quoted(state_->dictionary().text(name));
  return quoted;
}

void EventLines::AddNames(absl::Span<const NameId> names) {
  if (names.empty()) return;
  lines_ += R"(,"names":[)";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) lines_ += ',';
    lines_ += names[i].valid() ? QuotedName(names[i]) : "null";
  }
  lines_ += ']';
}

void EventLines::AddModule(ModuleId id) {
  if (!id.valid()) return;
  if (modules_.size() <= id.value) modules_.resize(id.value + 1);
  std::string& quoted = modules_[id.value];
  const Module& module = state_->dictionary().module(id);
  if (quoted.empty()) quoted = fmt::format(R"(,"module":{},"root":{})", Quoted(module.path), Quoted(module.root));
  lines_ += quoted;
}

void EventLines::AddModuleAndPhase(ModuleId module, Phase phase) {
  AddModule(module);
  AddText("phase", ToString(phase));
}

void EventLines::AddWritten(SchemaId schema) {
  if (!schema.valid()) return;
  const std::vector<bool>& written = state_->dictionary().schema(schema).argument_is_written;
  if (!written.empty()) lines_ += R"(,"written":)" + Json(written).dump();
}

const std::string& EventLines::QuotedLayout(LayoutId id) {
  if (layouts_.size() <= id.value) layouts_.resize(id.value + 1);
  std::string& quoted = layouts_[id.value];
  if (!quoted.empty()) return quoted;
  const Layout& layout = state_->dictionary().layout(id);
  quoted = R"(,"dtype":)" + Quoted(layout.dtype_name);
  if (!layout.shape_unknown) quoted += R"(,"sizes":)" + Json(layout.sizes).dump();
  if (!layout.strides.empty()) quoted += R"(,"strides":)" + Json(layout.strides).dump();
  return quoted;
}

void EventLines::AddSignature(SignatureId id) {
  if (!id.valid()) return;
  const Signature& signature = state_->dictionary().signature(id);
  AddText("kinds", signature.kinds);
  if (!signature.list_lengths.empty()) lines_ += R"(,"list_lengths":)" + Json(signature.list_lengths).dump();
}

void EventLines::AddTensor(std::string_view key, const Tensor& tensor) {
  lines_.append(",\"").append(key).append("\":");
  AppendTensor(tensor);
}

void EventLines::AppendTensor(const Tensor& tensor) {
  if (tensor.impl == 0) {
    lines_ += "null";
    return;
  }
  fmt::format_to(std::back_inserter(lines_), R"({{"impl":"0x{:x}","storage":"0x{:x}","storage_bytes":{})", tensor.impl,
                 tensor.storage, tensor.storage_bytes);
  if (tensor.device.valid()) AddDevice(tensor.device);
  if (tensor.layout.valid()) lines_ += QuotedLayout(tensor.layout);
  if (tensor.wants_gradient) AddBool("wants_gradient", true);
  if (tensor.unlisted) AddBool("unlisted", true);
  lines_ += '}';
}

void EventLines::AddTensors(absl::Span<const Tensor> tensors) {
  lines_ += R"(,"tensors":[)";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) lines_ += ',';
    AppendTensor(tensors[i]);
  }
  lines_ += ']';
}

void EventLines::AddBlock(const Block& block) {
  if (block.device.valid()) AddDevice(block.device);
  AddAddress("address", block.address);
  AddNumber("bytes", block.bytes);
  if (block.requested_bytes != 0) AddNumber("requested_bytes", block.requested_bytes);
  AddPlace(block);
  AddNumber("serial", block.serial);
  AddContext(block);
}

void EventLines::AddPlace(const Block& block) {
  if (block.stream != 0) AddAddress("stream", block.stream);
  if (block.pool_graph != 0 || block.pool_user != 0)
    fmt::format_to(std::back_inserter(lines_), R"(,"pool":[{},{}])", block.pool_graph, block.pool_user);
}

void EventLines::AddContext(const Block& block) {
  AddName("operator", block.operator_name);
  AddName("leaf", block.leaf_name);
  AddName("range", block.user_name);
  if (block.origin == BlockOrigin::kRecorded) AddModuleAndPhase(block.module, block.phase);
}

void EventLines::AddDriverBlock(const DriverBlock& block) {
  AddDevice(block.device);
  if (block.address != 0) AddAddress("address", block.address);
  AddNumber("bytes", block.bytes);
  AddText("call", ToString(block.call));
  AddName("library", block.library);
  AddNumber("serial", block.serial);
  AddName("operator", block.operator_name);
  AddName("range", block.user_name);
  if (block.origin == BlockOrigin::kRecorded) AddModuleAndPhase(block.module, block.phase);
}

const std::string& EventLines::QuotedCode(CodeId id) {
  if (codes_.size() <= id.value) codes_.resize(id.value + 1);
  std::string& quoted = codes_[id.value];
  const Code& code = state_->dictionary().code(id);
  if (quoted.empty()) quoted = fmt::format(R"("file":{},"function":{})", Quoted(code.file), Quoted(code.function));
  return quoted;
}

void EventLines::AddCode(CodeId code) {
  lines_ += ',';
  lines_ += code.valid() ? QuotedCode(code) : R"("file":null,"function":null)";
}

void EventLines::AddFrames(StackId stack) {
  lines_ += R"(,"frames":[)";
  bool first = true;
  for (const Frame& frame : state_->dictionary().Frames(stack)) {
    fmt::format_to(std::back_inserter(lines_), R"({}{{{},"line":)", first ? "" : ",", QuotedCode(frame.code));
    lines_ += frame.line == 0 ? "null}" : fmt::format("{}}}", frame.line);
    first = false;
  }
  lines_ += ']';
}

}  // namespace memoir
