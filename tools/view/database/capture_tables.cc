#include "tools/view/database/capture_tables.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/categories/rules.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/model/kernel_name.h"
#include "tools/view/summary/summary_json.h"

namespace memoir {
namespace {

CellValue NumberOf(ThreadId thread, const Dictionary& dictionary) {
  return thread.valid() ? CellValue(std::uint64_t{dictionary.thread(thread).number}) : CellValue();
}

CellValue NodeNumber(std::uint32_t node) { return node == kNoTreeNode ? CellValue() : CellValue(std::uint64_t{node}); }

// Returns true for ASCII text and for cells without text. Readers of Arrow and Parquet expect valid UTF-8, so other
// text has to be checked.
bool IsPlain(const CellValue& cell) {
  const auto* text = std::get_if<std::string_view>(&cell);
  return text == nullptr ||
         std::ranges::all_of(*text, [](char letter) { return static_cast<signed char>(letter) >= 0; });
}

// Returns true at the first call for `id`.
bool IsNew(ModuleId id, std::vector<bool>& known) {
  if (known.size() <= id.value) known.resize(id.value + std::size_t{1});
  const bool is_new = !known[id.value];
  known[id.value] = true;
  return is_new;
}

// The result of comparing a job's ranks, for one rank.
struct RankVerdict {
  std::optional<std::uint64_t> role;  // identified by the lowest rank with this role
  std::string_view device;            // the device whose figures were compared
  const OddRank* odd = nullptr;       // nullptr: the rank is not odd
};

std::map<std::uint32_t, RankVerdict> VerdictsOf(const OddRanks& compared) {
  std::map<std::uint32_t, RankVerdict> verdicts;
  for (const Role& role : compared.roles) {
    for (const std::size_t i : role.members) {
      const RankFacts& rank = compared.ranks[i];
      verdicts[rank.rank] = {compared.ranks[role.members.front()].rank, rank.device, nullptr};
    }
  }
  for (const OddRank& odd : compared.odd) {
    for (const std::size_t i : odd.ranks) verdicts[compared.ranks[i].rank].odd = &odd;
  }
  return verdicts;
}

}  // namespace

CaptureTables::CaptureTables(const TableSink& sink, std::string_view own) : sink_(sink), lines_(own) {}

void CaptureTables::Insert(CaptureTable table, std::span<const CellValue> row) {
  if (!sink_.wanted.has(table)) return;
  if (std::ranges::all_of(row, IsPlain)) return sink_.insert(table, row);
  std::vector<CellValue> cells(row.begin(), row.end());
  std::deque<std::string> texts;
  for (CellValue& cell : cells) {
    if (!IsPlain(cell)) cell = std::string_view(texts.emplace_back(ToUtf8(std::get<std::string_view>(cell))));
  }
  sink_.insert(table, cells);
}

void CaptureTables::Insert(CaptureTable table, std::initializer_list<CellValue> row) {
  Insert(table, std::span<const CellValue>(row.begin(), row.size()));
}

void CaptureTables::AddRanks(const Capture& capture, const ReplayReport& report, const OddRanks& compared) {
  const std::map<std::uint32_t, RankVerdict> verdicts = VerdictsOf(compared);
  for (const ProcessSummary& process : capture.processes()) {
    const std::size_t i = process.id.value;
    if (i < report.processes.size() && !report.processes[i].replayed) continue;
    const std::string host = ToUtf8(process.info.host()), program = ToUtf8(process.info.program());
    const std::uint64_t duration = i < report.processes.size() ? report.processes[i].duration_ns : 0;
    const auto found = process.rank() ? verdicts.find(*process.rank()) : verdicts.end();
    const RankVerdict verdict = found == verdicts.end() ? RankVerdict() : found->second;
    const OddRank* const odd = verdict.odd;
    Insert(CaptureTable::kRanks,
           {std::uint64_t{i}, OptionalValue(process.rank()), std::uint64_t{process.info.pid()}, TextValue(host),
            TextValue(program), process.start_ns, duration, OptionalValue(verdict.role), TextValue(verdict.device),
            odd == nullptr ? CellValue() : ToString(odd->figure), odd == nullptr ? CellValue() : odd->value,
            odd == nullptr ? CellValue() : odd->usual, odd == nullptr ? CellValue() : OptionalValue(odd->since_step)});
  }
}

void CaptureTables::AddSteps(const std::vector<StepTime>& steps) {
  for (const StepTime& step : steps)
    Insert(CaptureTable::kSteps, {std::uint64_t{step.process.value}, step.step, step.begin_ns, ToString(step.source)});
}

void CaptureTables::AddModule(ModuleId id, const Module& module) {
  if (!IsNew(id, known_modules_)) return;
  Insert(CaptureTable::kModules, {std::uint64_t{id.value}, std::string_view(module.root), std::string_view(module.path),
                                  std::string_view(module.class_name)});
}

CellValue CaptureTables::ModuleOf(ModuleId id, const Dictionary& dictionary) {
  if (!id.valid()) return {};
  AddModule(id, dictionary.module(id));
  return std::uint64_t{id.value};
}

void CaptureTables::AddModulesOfBlocks() {
  for (const auto& [id, module] : modules_of_blocks_) AddModule(id, module);
}

void CaptureTables::AddCall(const StreamedNode& node, const ReplayState& state) {
  const Dictionary& dictionary = state.dictionary();
  const DeviceCallEvent& call = *node.device_call;
  const std::string device = ToString(dictionary.device(call.device));
  const std::string_view symbol = dictionary.text(call.kernel);
  const std::string kernel = symbol.empty() ? "" : KernelName(symbol);
  const CellValue module = ModuleOf(node.module, dictionary);
  Insert(CaptureTable::kCalls,
         {state.Nanoseconds(node.process, node.begin), state.Nanoseconds(call.process, call.tick),
          std::uint64_t{node.process.value}, NumberOf(node.thread, dictionary), ToString(call.call),
          std::string_view(device), call.stream, TextValue(kernel), TextValue(symbol),
          TextValue(ToString(call.copy_kind)), call.bytes, call.result == 0 ? CellValue() : std::uint64_t{call.result},
          NodeNumber(node.parent), module, ToString(node.phase)});
}

void CaptureTables::AddNode(const StreamedNode& node, const ReplayState& state) {
  if (node.kind == StreamedNode::Kind::kDeviceCall) return AddCall(node, state);
  const Dictionary& dictionary = state.dictionary();
  const std::uint64_t process = node.process.value, begin_ns = state.Nanoseconds(node.process, node.begin);
  const CellValue thread = NumberOf(node.thread, dictionary);
  if (node.kind == StreamedNode::Kind::kMemory) {
    const std::string device = node.device.valid() ? ToString(dictionary.device(node.device)) : "";
    Insert(CaptureTable::kEvents, {begin_ns, process, thread, ToString(node.action), TextValue(device), node.address,
                                   node.bytes, node.serial, node.stream, NodeNumber(node.parent)});
    return;
  }
  const bool is_module = node.kind == StreamedNode::Kind::kModule, is_call = node.kind == StreamedNode::Kind::kCall;
  const CellValue module = ModuleOf(node.module, dictionary);
  CellValue name, file;
  if (node.name.valid()) name = dictionary.text(node.name);
  if (is_call && node.code.valid()) {
    name = std::string_view(dictionary.code(node.code).function);
    file = TextValue(dictionary.code(node.code).file);
  }
  if (is_module && node.module.valid()) name = std::string_view(dictionary.module(node.module).display_path());
  std::optional<std::uint64_t> end_ns;
  if (node.end) end_ns = state.Nanoseconds(node.process, *node.end);
  Insert(CaptureTable::kOperators, {std::uint64_t{node.number}, NodeNumber(node.parent), process, thread,
                                    is_module ? std::string_view("module")
                                    : is_call ? std::string_view("call")
                                              : ToString(node.source),
                                    name, module, is_call ? CellValue() : ToString(node.phase), begin_ns,
                                    OptionalValue(end_ns), node.allocated, node.freed, NodeNumber(node.forward), file});
}

void CaptureTables::AddBlock(const BlockLife& life, const BlockCategories& categories, const ReplayState& state) {
  const Dictionary& dictionary = state.dictionary();
  const Block& block = *life.block;
  const Rule& rule = Rules()[life.rule];
  const std::string device = ToString(dictionary.device(block.device));
  CellValue module;
  if (block.module.valid()) {
    module = std::uint64_t{block.module.value};
    if (IsNew(block.module, block_modules_))
      modules_of_blocks_.emplace_back(block.module, dictionary.module(block.module));
  }
  const SourceLine line = lines_.LineOf(block.line_callstack(), dictionary);
  std::string parameter;
  if (life.parameter != kNoParameter) parameter = categories.parameters[life.parameter].label();
  const CellValue line_number = line.line == 0 ? CellValue() : CellValue(std::uint64_t{line.line});
  Insert(CaptureTable::kBlocks, {std::uint64_t{life.process.value},
                                 std::string_view(device),
                                 block.address,
                                 block.serial,
                                 block.bytes,
                                 block.requested_bytes != 0 ? block.requested_bytes : block.bytes,
                                 block.stream,
                                 NumberOf(block.thread, dictionary),
                                 life.allocated_ns,
                                 OptionalValue(life.freed_ns),
                                 TextValue(dictionary.text(block.operator_name)),
                                 module,
                                 ToString(block.phase),
                                 std::string_view(NameOf(rule.kept)),
                                 TextValue(rule.detail),
                                 std::string_view(rule.name),
                                 TextValue(parameter),
                                 TextValue(line.file),
                                 line_number,
                                 TextValue(line.function)});
}

void CaptureTables::AddSummary(const Summary& summary) {
  for (const DeviceRow& device : summary.devices) {
    const Json json = DeviceJson(device, summary.report);
    std::vector<CellValue> row;
    for (const TableColumn& column : DefinitionOf(CaptureTable::kSummary).columns) {
      const auto value = json.find(column.name);
      if (value == json.end() || value->is_null()) {
        row.emplace_back();
      } else if (value->is_string()) {
        row.push_back(TextValue(value->get_ref<const std::string&>()));
      } else {
        row.emplace_back(value->get<std::uint64_t>());
      }
    }
    Insert(CaptureTable::kSummary, std::span<const CellValue>(row));
  }
}

}  // namespace memoir
