#include "tools/view/database/capture_columns.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_split.h"

namespace memoir {
namespace {

constexpr ColumnType kKey = ColumnType::kKey, kNumber = ColumnType::kNumber, kWide = ColumnType::kWide,
                     kText = ColumnType::kText;

constexpr TableColumn kRanks[] = {{"process", kKey},        {"rank", kNumber},           {"pid", kNumber},
                                  {"host", kText},          {"program", kText},          {"start_ns", kNumber},
                                  {"duration_ns", kNumber}, {"role", kNumber},           {"compared_device", kText},
                                  {"out_of_line", kText},   {"compared_value", kNumber}, {"usual_value", kNumber},
                                  {"since_step", kWide}};
constexpr TableColumn kModules[] = {{"module", kKey}, {"root", kText}, {"path", kText}, {"class", kText}};
constexpr TableColumn kSteps[] = {{"process", kNumber}, {"step", kWide}, {"begin_ns", kNumber}, {"source", kText}};
constexpr TableColumn kOperators[] = {
    {"operator", kKey},    {"parent", kNumber}, {"process", kNumber},         {"thread", kNumber},
    {"kind", kText},       {"name", kText},     {"module", kNumber},          {"phase", kText},
    {"begin_ns", kNumber}, {"end_ns", kNumber}, {"allocated_bytes", kNumber}, {"freed_bytes", kNumber},
    {"forward", kNumber},  {"file", kText}};
constexpr TableColumn kBlocks[] = {{"process", kNumber},  {"device", kText},    {"address", kWide},
                                   {"serial", kWide},     {"bytes", kNumber},   {"requested_bytes", kNumber},
                                   {"stream", kWide},     {"thread", kNumber},  {"allocated_ns", kNumber},
                                   {"freed_ns", kNumber}, {"operator", kText},  {"module", kNumber},
                                   {"phase", kText},      {"category", kText},  {"detail", kText},
                                   {"rule", kText},       {"parameter", kText}, {"file", kText},
                                   {"line", kNumber},     {"function", kText}};
constexpr TableColumn kEvents[] = {{"ns", kNumber},   {"process", kNumber}, {"thread", kNumber}, {"action", kText},
                                   {"device", kText}, {"address", kWide},   {"bytes", kNumber},  {"serial", kWide},
                                   {"stream", kWide}, {"operator", kNumber}};
constexpr TableColumn kCalls[] = {{"begin_ns", kNumber}, {"end_ns", kNumber}, {"process", kNumber}, {"thread", kNumber},
                                  {"call", kText},       {"device", kText},   {"stream", kWide},    {"kernel", kText},
                                  {"symbol", kText},     {"kind", kText},     {"bytes", kNumber},   {"error", kNumber},
                                  {"operator", kNumber}, {"module", kNumber}, {"phase", kText}};
// The names and meanings are the same as for `devices` in `memoir show --json` (docs/json.md).
constexpr TableColumn kSummary[] = {{"process", kNumber},
                                    {"rank", kNumber},
                                    {"device", kText},
                                    {"product", kText},
                                    {"peak_allocated_bytes", kNumber},
                                    {"peak_time_ns", kNumber},
                                    {"peak_blocks", kNumber},
                                    {"peak_operator", kText},
                                    {"peak_range", kText},
                                    {"peak_step", kWide},
                                    {"live_bytes_at_begin", kNumber},
                                    {"live_bytes_at_end", kNumber},
                                    {"live_blocks_at_end", kNumber},
                                    {"allocations", kNumber},
                                    {"allocated_bytes", kNumber},
                                    {"deallocations", kNumber},
                                    {"deallocated_bytes", kNumber},
                                    {"unattributed_bytes", kNumber},
                                    {"peak_active_bytes", kNumber},
                                    {"peak_reserved_bytes", kNumber},
                                    {"reserved_bytes_at_peak", kNumber},
                                    {"active_bytes_at_peak", kNumber},
                                    {"requested_bytes_at_peak", kNumber},
                                    {"active_bytes_at_end", kNumber},
                                    {"reserved_bytes_at_end", kNumber},
                                    {"num_alloc_retries", kNumber},
                                    {"num_ooms", kNumber},
                                    {"outside_torch_bytes", kNumber},
                                    {"least_free_bytes", kNumber},
                                    {"total_bytes", kNumber}};

// Indexed by CaptureTable.
constexpr std::array<TableDefinition, kTables> kDefinitions = {{{"ranks", kRanks},
                                                                {"modules", kModules},
                                                                {"steps", kSteps},
                                                                {"operators", kOperators},
                                                                {"blocks", kBlocks},
                                                                {"events", kEvents},
                                                                {"calls", kCalls},
                                                                {"summary", kSummary}}};

}  // namespace

const TableDefinition& DefinitionOf(CaptureTable table) { return kDefinitions[static_cast<std::size_t>(table)]; }

std::optional<TableSet> TableSet::Parse(std::string_view names) {
  TableSet set;
  for (const auto name : absl::StrSplit(absl::string_view(names.data(), names.size()), ',')) {
    const std::string_view wanted(name.data(), name.size());
    const auto found = std::ranges::find(kDefinitions, wanted, &TableDefinition::name);
    if (found == kDefinitions.end()) return std::nullopt;
    set.Add(static_cast<CaptureTable>(found - kDefinitions.begin()));
  }
  return set;
}

std::size_t TableSet::size() const { return static_cast<std::size_t>(std::popcount(bits_)); }

std::string TableNames() {
  std::string names;
  for (const TableDefinition& table : kDefinitions) names += (names.empty() ? "" : ", ") + std::string(table.name);
  return names;
}

}  // namespace memoir
