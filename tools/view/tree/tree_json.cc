#include "tools/view/tree/tree_json.h"

#include <iterator>

#include "fmt/format.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

std::string_view KindName(StreamedNode::Kind kind) {
  switch (kind) {
    case StreamedNode::Kind::kRange:
      return "range";
    case StreamedNode::Kind::kModule:
      return "module";
    case StreamedNode::Kind::kCall:
      return "call";
    case StreamedNode::Kind::kMemory:
      return "memory";
    case StreamedNode::Kind::kDeviceCall:
      return "device_call";
  }
  return "range";
}

}  // namespace

void TreeJsonWriter::Flush() {
  if (!lines_.empty()) write_(lines_);
  lines_.clear();
}

void TreeJsonWriter::AddNumber(std::string_view key, std::uint32_t number) {
  const auto out = std::back_inserter(lines_);
  if (number == kNoTreeNode) {
    fmt::format_to(out, R"("{}":null,)", key);
  } else {
    fmt::format_to(out, R"("{}":{},)", key, number);
  }
}

const std::string& TreeJsonWriter::QuotedName(NameId name, const Dictionary& dictionary) {
  if (names_.size() <= name.value) names_.resize(name.value + 1);
  std::string& quoted = names_[name.value];
  if (quoted.empty()) quoted = Quoted(dictionary.text(name));
  return quoted;
}

void TreeJsonWriter::AddModule(const StreamedNode& node, const Dictionary& dictionary) {
  if (node.module.valid()) {
    if (modules_.size() <= node.module.value) modules_.resize(node.module.value + 1);
    std::string& quoted = modules_[node.module.value];
    const Module& module = dictionary.module(node.module);
    if (quoted.empty())
      quoted = fmt::format(R"(,"module":{},"root":{},"class":{})", Quoted(module.path), Quoted(module.root),
                           Quoted(module.class_name));
    lines_ += quoted;
  }
  fmt::format_to(std::back_inserter(lines_), R"(,"phase":"{}")", ToString(node.phase));
}

void TreeJsonWriter::AddCode(CodeId code, const Dictionary& dictionary) {
  if (!code.valid()) {
    lines_ += R"(,"function":null,"file":null)";
    return;
  }
  if (codes_.size() <= code.value) codes_.resize(code.value + 1);
  std::string& quoted = codes_[code.value];
  const Code& called = dictionary.code(code);
  if (quoted.empty())
    quoted = fmt::format(R"(,"function":{},"file":{})", Quoted(called.function),
                         called.file.empty() ? "null" : Quoted(called.file));
  lines_ += quoted;
}

void TreeJsonWriter::AddRange(const StreamedNode& node, const ReplayState& state) {
  const auto out = std::back_inserter(lines_);
  if (node.kind == StreamedNode::Kind::kRange) {
    const std::string name = node.name.valid() ? QuotedName(node.name, state.dictionary()) : "null";
    fmt::format_to(out, R"(,"name":{},"source":"{}")", name, ToString(node.source));
    if (node.sequence >= 0) fmt::format_to(out, R"(,"sequence":{})", node.sequence);
    if (node.forward != kNoTreeNode) fmt::format_to(out, R"(,"forward":{})", node.forward);
  }
  if (node.kind == StreamedNode::Kind::kCall) {
    AddCode(node.code, state.dictionary());
  } else {
    AddModule(node, state.dictionary());
  }
  fmt::format_to(out, R"(,"begin_ns":{})", state.Nanoseconds(node.process, node.begin));
  if (node.end) {
    fmt::format_to(out, R"(,"end_ns":{})", state.Nanoseconds(node.process, *node.end));
  } else {
    lines_ += R"(,"end_ns":null)";
  }
  fmt::format_to(out, R"(,"allocated_bytes":{},"freed_bytes":{})", node.allocated, node.freed);
}

void TreeJsonWriter::AddMemory(const StreamedNode& node, const Dictionary& dictionary) {
  const auto out = std::back_inserter(lines_);
  fmt::format_to(out, R"(,"action":"{}")", ToString(node.action));
  if (node.device.valid()) fmt::format_to(out, R"(,"device":{})", Quoted(ToString(dictionary.device(node.device))));
  fmt::format_to(out, R"(,"bytes":{}{})", ReturnsMemory(node.action) && node.bytes > 0 ? "-" : "", node.bytes);
  if (node.address != 0) fmt::format_to(out, R"(,"address":"{:#x}")", node.address);
  if (node.serial != 0) fmt::format_to(out, R"(,"serial":{})", node.serial);
  if (node.stream != 0) fmt::format_to(out, R"(,"stream":"{:#x}")", node.stream);
  if (node.call != v1::DRIVER_CALL_UNKNOWN) fmt::format_to(out, R"(,"call":"{}")", ToString(node.call));
  if (node.library.valid()) fmt::format_to(out, R"(,"library":{})", QuotedName(node.library, dictionary));
  if (node.action == MemoryAction::kAllocate) AddModule(node, dictionary);
}

void TreeJsonWriter::AddCall(const DeviceCallEvent& call, const ReplayState& state) {
  const auto out = std::back_inserter(lines_);
  fmt::format_to(out, R"(,"end_ns":{},"call":"{}","device":{})", state.Nanoseconds(call.process, call.tick),
                 ToString(call.call), Quoted(ToString(state.dictionary().device(call.device))));
  if (call.stream != 0) fmt::format_to(out, R"(,"stream":"{:#x}")", call.stream);
  if (call.is_launch)
    fmt::format_to(out, R"(,"kernel":{})", call.kernel.valid() ? QuotedName(call.kernel, state.dictionary()) : "null");
  if (call.copy_kind != v1::COPY_KIND_UNKNOWN) fmt::format_to(out, R"(,"copy":"{}")", ToString(call.copy_kind));
  if (call.bytes != 0) fmt::format_to(out, R"(,"bytes":{})", call.bytes);
  if (call.result != 0) fmt::format_to(out, R"(,"error":{})", call.result);
}

void TreeJsonWriter::Add(const StreamedNode& node, const ReplayState& state) {
  const auto out = std::back_inserter(lines_);
  lines_ += '{';
  const bool is_memory = node.kind == StreamedNode::Kind::kMemory;
  const bool is_call = node.kind == StreamedNode::Kind::kDeviceCall;
  if (!is_memory && !is_call) AddNumber("node", node.number);
  AddNumber("parent", node.parent);
  fmt::format_to(out, R"("kind":"{}","process":{})", KindName(node.kind), node.process.value);
  if (node.thread.valid()) fmt::format_to(out, R"(,"thread":{})", state.dictionary().thread(node.thread).number);
  if (is_memory || is_call) {
    fmt::format_to(out, R"(,"begin_ns":{})", state.Nanoseconds(node.process, node.begin));
    is_call ? AddCall(*node.device_call, state) : AddMemory(node, state.dictionary());
  } else {
    AddRange(node, state);
  }
  lines_ += "}\n";
  if (lines_.size() >= kFlushBytes) Flush();
}

}  // namespace memoir
