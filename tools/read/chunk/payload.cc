#include "tools/read/chunk/payload.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/read/chunk/run_check.h"

namespace memoir {
namespace {

// Bounds memory: a hostile chunk may contain millions of empty messages. An empty message takes two bytes in the file,
// and about 200 bytes of memory when it is parsed.
constexpr std::size_t kMaxDefinitions = 1u << 18;  // of one kind in one chunk
constexpr std::size_t kMaxDefinitionBytes = 1u << 18;
constexpr std::size_t kMaxRuns = 1u << 18;
constexpr std::size_t kMaxPatterns = 256, kMaxPatternEvents = 1u << 20;  // in one chunk
constexpr int kMaxDimensions = 1024;

absl::Status Damaged(const std::string& what) { return absl::DataLossError(what); }

template <class Message>
absl::Status AddDefinition(const WireField& field, std::vector<Message>* definitions) {
  if (definitions->size() == kMaxDefinitions) return Damaged("chunk defines more names than a chunk can");
  if (field.bytes.size() > kMaxDefinitionBytes) return Damaged("definition in a chunk is too large");
  if (!definitions->emplace_back().ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size()))) {
    return Damaged("definition in a chunk is damaged");
  }
  return absl::OkStatus();
}

template <class Message>
absl::Status ParseMessage(const WireField& field, Message* message) {
  if (field.bytes.size() > kMaxDefinitionBytes ||
      !message->ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size()))) {
    return Damaged("message in a chunk is damaged");
  }
  return absl::OkStatus();
}

absl::Status AddRun(const WireField& field, Payload* payload) {
  if (payload->runs.size() == kMaxRuns) return Damaged("chunk holds more runs than a chunk can");
  return ParseRun(field.bytes, &payload->runs.emplace_back());
}

absl::Status AddStretch(const WireField& field, Payload* payload) {
  if (payload->step_patterns.size() == kMaxPatterns) return Damaged("chunk defines more stretches than a chunk can");
  auto pattern = std::make_shared<StepPattern>();
  absl::Status parsed = ParseStepPattern(field.bytes, kMaxPatternEvents - payload->pattern_events, pattern.get());
  if (!parsed.ok()) return parsed;
  payload->pattern_events += pattern->events.size();
  payload->step_patterns.push_back(std::move(pattern));
  return absl::OkStatus();
}

struct TableColumns {
  Column impl_delta, storage_delta, storage_bytes, layout;
  ZeroableColumn device, traits;
};

absl::Status ParseTable(std::string_view bytes, std::vector<TensorRow>* rows) {
  TableColumns columns;
  PackedVarints* const by_field[] = {&columns.impl_delta, &columns.storage_delta, &columns.storage_bytes,
                                     &columns.layout,     &columns.device,        &columns.traits};
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number >= 1 && field.number <= std::size(by_field) && !SetColumn(field, by_field[field.number - 1])) {
      return Damaged("column of the tensor table is not packed as one");
    }
  }
  std::uint64_t count = 0;
  if (!reader.ok() || !columns.impl_delta.Count(&count) || !HasValues(columns.storage_delta, count) ||
      !HasValues(columns.storage_bytes, count) || !HasValues(columns.layout, count) ||
      !(columns.device.empty() || HasValues(columns.device, count)) ||
      !(columns.traits.empty() || HasValues(columns.traits, count))) {
    return Damaged("columns of the tensor table do not match");
  }
  rows->resize(static_cast<std::size_t>(count));
  std::uint64_t impl = 0, storage = 0;
  for (TensorRow& row : *rows) {
    row.impl = impl += static_cast<std::uint64_t>(DecodeZigZag(columns.impl_delta.Next()));
    row.storage = storage += static_cast<std::uint64_t>(DecodeZigZag(columns.storage_delta.Next()));
    row.storage_bytes = columns.storage_bytes.Next();
    row.layout = columns.layout.Next32();
    row.device = columns.device.Next32();
    row.traits = columns.traits.Next32();
  }
  return absl::OkStatus();
}

absl::Status AddField(const WireField& field, Payload* payload) {
  if (field.type != WireType::kBytes) return absl::OkStatus();  // a later version may add such fields
  switch (field.number) {
    case v1::Payload::kNamesFieldNumber:
      return AddDefinition(field, &payload->names);
    case v1::Payload::kLayoutsFieldNumber:
      return AddDefinition(field, &payload->layouts);
    case v1::Payload::kSignaturesFieldNumber:
      return AddDefinition(field, &payload->signatures);
    case v1::Payload::kThreadsFieldNumber:
      return AddDefinition(field, &payload->threads);
    case v1::Payload::kDevicesFieldNumber:
      return AddDefinition(field, &payload->devices);
    case v1::Payload::kStacksFieldNumber:
      return AddDefinition(field, &payload->stacks);
    case v1::Payload::kTensorsFieldNumber:
      return ParseTable(field.bytes, &payload->tensors);
    case v1::Payload::kRunsFieldNumber:
      return AddRun(field, payload);
    case v1::Payload::kStretchesFieldNumber:
      return AddStretch(field, payload);
    case v1::Payload::kRepeatsFieldNumber:
      if (!payload->pattern_rows.rows.empty()) return Damaged("chunk has two lists of repeats");
      return ParsePatternRows(field.bytes, &payload->pattern_rows);
    case v1::Payload::kRepeatedRecordsFieldNumber:
      return AddDefinition(field, &payload->repeated_records);
    case v1::Payload::kClockFieldNumber:
      return ParseMessage(field, &payload->clock);
    case v1::Payload::kCountersFieldNumber:
      payload->has_counters = true;
      return ParseMessage(field, &payload->counters);
    case v1::Payload::kKeyframeFieldNumber:
      payload->keyframe = field.bytes;
      return absl::OkStatus();
    case v1::Payload::kEndFieldNumber:
      payload->has_end = true;
      return ParseMessage(field, &payload->end);
    default:
      return absl::OkStatus();
  }
}

absl::Status CheckLayouts(const std::vector<v1::LayoutDef>& layouts) {
  for (const v1::LayoutDef& layout : layouts) {
    if (layout.sizes_size() > kMaxDimensions || layout.strides_size() > kMaxDimensions)
      return Damaged("layout has too many dimensions");
  }
  return absl::OkStatus();
}

}  // namespace

bool CountTensors(const v1::SignatureDef& signature, std::uint64_t* tensors) {
  std::uint64_t count = 0;
  int lists = 0;
  for (const char kind : signature.kinds()) {
    if (kind == 'T') ++count;
    if (kind == 'L') {
      if (lists == signature.list_lengths_size()) return false;
      count += signature.list_lengths(lists++);
    }
  }
  *tensors = count;
  return lists == signature.list_lengths_size();
}

std::uint64_t CountHoldsNames(const v1::SignatureDef& signature) {
  if (signature.kinds() != "LLL" || signature.list_lengths_size() != 3) return 0;
  return std::uint64_t{signature.list_lengths(0)} + signature.list_lengths(2);
}

std::uint64_t Payload::memory_bytes() const {
  const std::uint64_t repeated = pattern_events * sizeof(PatternEvent) +
                                 pattern_rows.rows.capacity() * sizeof(PatternRow) +
                                 pattern_rows.addresses.capacity() * 2 * sizeof(std::uint64_t);
  return repeated + bytes.capacity() + tensors.capacity() * sizeof(TensorRow) + runs.capacity() * sizeof(Run) +
         256 * (names.size() + layouts.size() + signatures.size()) + 64 * stacks.size();
}

absl::Status AddSignatures(const Payload& payload, SignatureCountsById* signature_counts) {
  for (const v1::SignatureDef& signature : payload.signatures) {
    SignatureCounts counts{0, CountHoldsNames(signature)};
    if (!CountTensors(signature, &counts.tensors)) return Damaged("signature does not match its list lengths");
    const auto [known, added] = signature_counts->try_emplace(signature.id(), counts);
    if (known->second != counts) return Damaged("signature is defined again as something else");
  }
  return absl::OkStatus();
}

absl::Status ParsePayload(std::string bytes, SignatureCountsById* signature_counts, Payload* payload) {
  *payload = Payload();
  payload->bytes = std::move(bytes);
  WireReader reader(payload->bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (absl::Status added = AddField(field, payload); !added.ok()) return added;
  }
  if (!reader.ok()) return Damaged("payload of a chunk is damaged");
  if (absl::Status layouts = CheckLayouts(payload->layouts); !layouts.ok()) return layouts;
  if (absl::Status signatures = AddSignatures(*payload, signature_counts); !signatures.ok()) return signatures;
  for (const Run& run : payload->runs) {
    if (absl::Status checked = CheckRun(run, *signature_counts); !checked.ok()) return checked;
    payload->events += run.kind.size();
  }
  payload->events += payload->pattern_rows.events;
  return absl::OkStatus();
}

}  // namespace memoir
