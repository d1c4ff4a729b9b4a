#include "tools/read/chunk/run_check.h"

#include <array>
#include <bit>

#include "absl/strings/str_cat.h"
#include "proto/memoir/run_schema.h"

namespace memoir {
namespace {

absl::Status Damaged(const std::string& what) { return absl::DataLossError(what); }

// Kinds of events by number. A number without a name is not a kind.
constexpr auto kEvents = [] {
  std::array<EventSchema, 256> events{};
  for (const EventSchema& event : kEventSchemas) events[event.number] = event;
  return events;
}();

const EventSchema& EventOf(char kind) { return kEvents[static_cast<std::uint8_t>(kind)]; }

// The number of values that each column must have for the kinds. Columns that depend on signatures are not counted.
struct ExpectedCounts {
  std::array<std::uint64_t, kRunColumnCount> values{};
  bool all_known = true;
};

ExpectedCounts ExpectedCountsOf(std::string_view kinds) {
  std::array<std::uint64_t, 256> count{};
  for (const char kind : kinds) ++count[static_cast<std::uint8_t>(kind)];
  ExpectedCounts wanted;
  wanted.values[static_cast<std::size_t>(RunColumn::kTickDelta)] = kinds.size();
  for (std::size_t kind = 0; kind < count.size(); ++kind) {
    if (count[kind] == 0) continue;
    wanted.all_known = wanted.all_known && kEvents[kind].name != nullptr;
    for (std::uint64_t left = kEvents[kind].columns; left != 0; left &= left - 1) {
      const auto column = static_cast<std::size_t>(std::countr_zero(left));
      wanted.values[column] += count[kind] * kRunColumns[column].values;
    }
  }
  return wanted;
}

// Returns true if the column matches. A column may be omitted if all its values are 0.
bool Matches(const PackedVarints& column, RunColumn which, const ExpectedCounts& wanted) {
  const ColumnSchema& schema = SchemaOf(which);
  if (schema.values == 0 || (schema.zeros_left_out && column.empty())) return true;
  return HasValues(column, wanted.values[static_cast<std::size_t>(which)]);
}

absl::Status CheckTensorColumn(const Run& run, std::uint64_t signatures, const SignatureCountsById& signature_counts) {
  Column signature = run.signature;
  std::uint64_t wanted = 0;
  for (std::uint64_t i = 0; i < signatures; ++i) {
    const std::uint32_t id = signature.Next32();
    if (id == 0) continue;
    const auto found = signature_counts.find(id);
    if (found == signature_counts.end())
      return Damaged(absl::StrCat("chunk uses signature ", id, ", which no chunk before defines"));
    wanted += found->second.tensors;
    if (wanted > run.tensor.size()) break;  // the sum of hostile lengths must not overflow
  }
  return HasValues(run.tensor, wanted) ? absl::OkStatus()
                                       : Damaged("tensor column of a run does not match its signatures");
}

// Returns true if there is a name for each parameter and buffer in the events of modules, or if the run has no names.
bool HoldsNamesMatch(const Run& run, const SignatureCountsById& signature_counts) {
  if (run.holds_name.empty()) return true;
  Column signature = run.signature;
  std::uint64_t wanted = 0;
  for (const char kind : run.kind) {
    const EventSchema& event = EventOf(kind);
    if (!event.Takes(RunColumn::kSignature)) continue;
    const std::uint32_t id = signature.Next32();
    if (id == 0 || !event.Takes(RunColumn::kHoldsName)) continue;
    wanted += signature_counts.at(id).names;
    if (wanted > run.holds_name.size()) return false;
  }
  return HasValues(run.holds_name, wanted);
}

}  // namespace

bool HasValues(const PackedVarints& column, std::uint64_t wanted) {
  std::uint64_t values = 0;
  return column.Count(&values) && values == wanted;
}

absl::Status CheckRun(const Run& run, const SignatureCountsById& signature_counts) {
  const ExpectedCounts wanted = ExpectedCountsOf(run.kind);
  if (!wanted.all_known) return Damaged("run holds event kinds that this Memoir does not know");
  bool match = true;
#define MEMOIR_COLUMN(Name, name, field, values, absence) \
  match = match && Matches(run.name, RunColumn::k##Name, wanted);
#include "proto/memoir/events.def"
  if (!match) return Damaged("columns of a run do not match its events");
  const std::uint64_t signatures = wanted.values[static_cast<std::size_t>(RunColumn::kSignature)];
  if (absl::Status tensors = CheckTensorColumn(run, signatures, signature_counts); !tensors.ok()) return tensors;
  if (HoldsNamesMatch(run, signature_counts)) return absl::OkStatus();
  return Damaged("names of what modules hold do not match the events of a run");
}

}  // namespace memoir
