#include "tools/view/database/capture_tables.h"

#include <cstdint>
#include <optional>

#include "tools/analyze/categories/rules.h"
#include "tools/analyze/pass/steps.h"
#include "tools/model/kernel_name.h"

namespace memoir {
namespace {

SqlValue NumberOf(ThreadId thread, const Dictionary& dictionary) {
  return thread.valid() ? SqlValue(std::uint64_t{dictionary.thread(thread).number}) : SqlValue();
}

SqlValue NodeNumber(std::uint32_t node) { return node == kNoTreeNode ? SqlValue() : SqlValue(std::uint64_t{node}); }

}  // namespace

CaptureTables::CaptureTables(SqliteFile& file, std::string_view own)
    : file_(file),
      lines_(own),
      ranks_(file.CreateTable("ranks",
                              "process INTEGER PRIMARY KEY, rank INTEGER, pid INTEGER, host TEXT, "
                              "program TEXT, start_ns INTEGER, duration_ns INTEGER")),
      modules_(file.CreateTable("modules", "module INTEGER PRIMARY KEY, root TEXT, path TEXT, class TEXT")),
      steps_(file.CreateTable("steps", "process INTEGER, step INTEGER, begin_ns INTEGER, source TEXT")),
      operators_(file.CreateTable(
          "operators",
          "operator INTEGER PRIMARY KEY, parent INTEGER, process INTEGER, thread INTEGER, kind TEXT, name TEXT, "
          "module INTEGER, phase TEXT, begin_ns INTEGER, end_ns INTEGER, allocated_bytes INTEGER, freed_bytes INTEGER, "
          "forward INTEGER, file TEXT")),
      blocks_(file.CreateTable(
          "blocks",
          "process INTEGER, device TEXT, address INTEGER, serial INTEGER, bytes INTEGER, requested_bytes INTEGER, "
          "stream INTEGER, thread INTEGER, allocated_ns INTEGER, freed_ns INTEGER, operator TEXT, module INTEGER, "
          "phase TEXT, category TEXT, detail TEXT, rule TEXT, parameter TEXT, file TEXT, line INTEGER, function TEXT")),
      events_(file.CreateTable("events",
                               "ns INTEGER, process INTEGER, thread INTEGER, action TEXT, device TEXT, "
                               "address INTEGER, bytes INTEGER, serial INTEGER, stream INTEGER, operator INTEGER")),
      calls_(file.CreateTable("calls",
                              "begin_ns INTEGER, end_ns INTEGER, process INTEGER, thread INTEGER, call TEXT, "
                              "device TEXT, stream INTEGER, kernel TEXT, symbol TEXT, kind TEXT, bytes INTEGER, "
                              "error INTEGER, operator INTEGER, module INTEGER, phase TEXT")) {}

void CaptureTables::AddRanks(const Capture& capture, const ReplayReport& report) {
  for (const ProcessSummary& process : capture.processes()) {
    const std::size_t i = process.id.value;
    if (i < report.processes.size() && !report.processes[i].replayed) continue;
    const std::string host = ToUtf8(process.info.host()), program = ToUtf8(process.info.program());
    const std::uint64_t duration = i < report.processes.size() ? report.processes[i].duration_ns : 0;
    file_.Insert(ranks_, {std::uint64_t{i}, SqlOptional(process.rank()), std::uint64_t{process.info.pid()},
                          SqlText(host), SqlText(program), process.start_ns, duration});
  }
}

void CaptureTables::AddSteps(const std::vector<StepTime>& steps) {
  for (const StepTime& step : steps)
    file_.Insert(steps_, {std::uint64_t{step.process.value}, step.step, step.begin_ns, ToString(step.source)});
}

SqlValue CaptureTables::ModuleOf(ModuleId id, const Dictionary& dictionary) {
  if (!id.valid()) return {};
  if (known_modules_.size() <= id.value) known_modules_.resize(id.value + std::size_t{1});
  if (!known_modules_[id.value]) {
    const Module& module = dictionary.module(id);
    file_.Insert(modules_, {std::uint64_t{id.value}, std::string_view(module.root), std::string_view(module.path),
                            std::string_view(module.class_name)});
    known_modules_[id.value] = true;
  }
  return std::uint64_t{id.value};
}

void CaptureTables::AddCall(const StreamedNode& node, const ReplayState& state) {
  const Dictionary& dictionary = state.dictionary();
  const DeviceCallEvent& call = *node.device_call;
  const std::string device = ToString(dictionary.device(call.device));
  const std::string_view symbol = dictionary.text(call.kernel);
  const std::string kernel = symbol.empty() ? "" : KernelName(symbol);
  const SqlValue module = ModuleOf(node.module, dictionary);
  file_.Insert(calls_, {state.Nanoseconds(node.process, node.begin), state.Nanoseconds(call.process, call.tick),
                        std::uint64_t{node.process.value}, NumberOf(node.thread, dictionary), ToString(call.call),
                        std::string_view(device), call.stream, SqlText(kernel), SqlText(symbol),
                        SqlText(ToString(call.copy_kind)), call.bytes,
                        call.result == 0 ? SqlValue() : std::uint64_t{call.result}, NodeNumber(node.parent), module,
                        ToString(node.phase)});
}

void CaptureTables::AddNode(const StreamedNode& node, const ReplayState& state) {
  if (node.kind == StreamedNode::Kind::kDeviceCall) return AddCall(node, state);
  const Dictionary& dictionary = state.dictionary();
  const std::uint64_t process = node.process.value, begin_ns = state.Nanoseconds(node.process, node.begin);
  const SqlValue thread = NumberOf(node.thread, dictionary);
  if (node.kind == StreamedNode::Kind::kMemory) {
    const std::string device = node.device.valid() ? ToString(dictionary.device(node.device)) : "";
    file_.Insert(events_, {begin_ns, process, thread, ToString(node.action), SqlText(device), node.address, node.bytes,
                           node.serial, node.stream, NodeNumber(node.parent)});
    return;
  }
  const bool is_module = node.kind == StreamedNode::Kind::kModule, is_call = node.kind == StreamedNode::Kind::kCall;
  const SqlValue module = ModuleOf(node.module, dictionary);
  SqlValue name, file;
  if (node.name.valid()) name = dictionary.text(node.name);
  if (is_call && node.code.valid()) {
    name = std::string_view(dictionary.code(node.code).function);
    file = SqlText(dictionary.code(node.code).file);
  }
  if (is_module && node.module.valid()) name = std::string_view(dictionary.module(node.module).place());
  std::optional<std::uint64_t> end_ns;
  if (node.end) end_ns = state.Nanoseconds(node.process, *node.end);
  file_.Insert(operators_, {std::uint64_t{node.number}, NodeNumber(node.parent), process, thread,
                            is_module ? std::string_view("module")
                            : is_call ? std::string_view("call")
                                      : ToString(node.source),
                            name, module, is_call ? SqlValue() : ToString(node.phase), begin_ns, SqlOptional(end_ns),
                            node.allocated, node.freed, NodeNumber(node.forward), file});
}

void CaptureTables::AddBlock(const BlockLife& life, const BlockCategories& categories, const ReplayState& state) {
  const Dictionary& dictionary = state.dictionary();
  const Block& block = *life.block;
  const Rule& rule = Rules()[life.rule];
  const std::string device = ToString(dictionary.device(block.device));
  const SqlValue module = ModuleOf(block.module, dictionary);
  const SourceLine line = lines_.Of(block.line_callstack(), dictionary);
  std::string parameter;
  if (life.parameter != kNoParameter) parameter = categories.parameters[life.parameter].label();
  const SqlValue line_number = line.line == 0 ? SqlValue() : SqlValue(std::uint64_t{line.line});
  file_.Insert(blocks_, {std::uint64_t{life.process.value},
                         std::string_view(device),
                         block.address,
                         block.serial,
                         block.bytes,
                         block.requested_bytes != 0 ? block.requested_bytes : block.bytes,
                         block.stream,
                         NumberOf(block.thread, dictionary),
                         life.allocated_ns,
                         SqlOptional(life.freed_ns),
                         SqlText(dictionary.text(block.operator_name)),
                         module,
                         ToString(block.phase),
                         std::string_view(NameOf(rule.kept)),
                         SqlText(rule.detail),
                         std::string_view(rule.name),
                         SqlText(parameter),
                         SqlText(line.file),
                         line_number,
                         SqlText(line.function)});
}

void CaptureTables::AddIndices() {
  file_.Execute("CREATE INDEX operators_by_parent ON operators(parent)");
  file_.Execute("CREATE INDEX blocks_by_time ON blocks(process, device, allocated_ns)");
}

}  // namespace memoir
