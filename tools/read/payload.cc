#include "tools/read/payload.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/read/run_check.h"

namespace memoir {
namespace {

// A hostile chunk may hold millions of empty messages, each of which costs a hundred times its two bytes once parsed.
constexpr std::size_t kMaxDefinitions = 1u << 18;  // of a kind in one chunk
constexpr std::size_t kMaxDefinitionBytes = 1u << 18;
constexpr std::size_t kMaxRuns = 1u << 18;
constexpr std::size_t kMaxStretches = 256, kMaxStretchEvents = 1u << 20;  // in one chunk
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
  if (payload->stretches.size() == kMaxStretches) return Damaged("chunk defines more stretches than a chunk can");
  auto stretch = std::make_shared<Stretch>();
  absl::Status parsed = ParseStretch(field.bytes, kMaxStretchEvents - payload->stretch_events, stretch.get());
  if (!parsed.ok()) return parsed;
  payload->stretch_events += stretch->events.size();
  payload->stretches.push_back(std::move(stretch));
  return absl::OkStatus();
}

struct TableColumns {
  Column impl_delta, storage_delta, storage_bytes, layout, device, traits;
};

absl::Status ParseTable(std::string_view bytes, std::vector<TensorRow>* rows) {
  TableColumns columns;
  Column* const by_field[] = {&columns.impl_delta, &columns.storage_delta, &columns.storage_bytes,
                              &columns.layout,     &columns.device,        &columns.traits};
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number >= 1 && field.number <= std::size(by_field) && !SetColumn(field, by_field[field.number - 1])) {
      return Damaged("column of the tensor table is not packed as one");
    }
  }
  std::uint64_t count = 0;
  if (!reader.ok() || !columns.impl_delta.Count(&count) || !Has(columns.storage_delta, count) ||
      !Has(columns.storage_bytes, count) || !Has(columns.layout, count) ||
      !(columns.device.empty() || Has(columns.device, count)) ||
      !(columns.traits.empty() || Has(columns.traits, count))) {
    return Damaged("columns of the tensor table do not match");
  }
  const bool has_device = !columns.device.empty(), has_traits = !columns.traits.empty();
  rows->resize(static_cast<std::size_t>(count));
  std::uint64_t impl = 0, storage = 0;
  for (TensorRow& row : *rows) {
    row.impl = impl += static_cast<std::uint64_t>(ZigZag(columns.impl_delta.Next()));
    row.storage = storage += static_cast<std::uint64_t>(ZigZag(columns.storage_delta.Next()));
    row.storage_bytes = columns.storage_bytes.Next();
    row.layout = columns.layout.Next32();
    row.device = has_device ? columns.device.Next32() : 0;
    row.traits = has_traits ? columns.traits.Next32() : 0;
  }
  return absl::OkStatus();
}

absl::Status AddField(const WireField& field, Payload* payload) {
  if (field.type != WireType::kBytes) return absl::OkStatus();  // version 1 has none; a later one may
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
      if (!payload->repeats.rows.empty()) return Damaged("chunk has two lists of repeats");
      return ParseRepeats(field.bytes, &payload->repeats);
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

std::uint64_t Payload::memory() const {
  const std::uint64_t repeated = stretch_events * sizeof(StretchEvent) + repeats.rows.capacity() * sizeof(RepeatRow) +
                                 repeats.addresses.capacity() * 2 * sizeof(std::uint64_t);
  return repeated + bytes.capacity() + tensors.capacity() * sizeof(TensorRow) + runs.capacity() * sizeof(Run) +
         256 * (names.size() + layouts.size() + signatures.size()) + 64 * stacks.size();
}

absl::Status AddSignatures(const Payload& payload, SignatureTensors* signature_tensors) {
  for (const v1::SignatureDef& signature : payload.signatures) {
    SignatureCounts counts{0, CountHoldsNames(signature)};
    if (!CountTensors(signature, &counts.tensors)) return Damaged("signature does not match its list lengths");
    const auto [known, added] = signature_tensors->try_emplace(signature.id(), counts);
    if (known->second != counts) return Damaged("signature is defined again as something else");
  }
  return absl::OkStatus();
}

absl::Status ParsePayload(std::string bytes, SignatureTensors* signature_tensors, Payload* payload) {
  *payload = Payload();
  payload->bytes = std::move(bytes);
  WireReader reader(payload->bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (absl::Status added = AddField(field, payload); !added.ok()) return added;
  }
  if (!reader.ok()) return Damaged("payload of a chunk is damaged");
  if (absl::Status layouts = CheckLayouts(payload->layouts); !layouts.ok()) return layouts;
  if (absl::Status signatures = AddSignatures(*payload, signature_tensors); !signatures.ok()) return signatures;
  for (const Run& run : payload->runs) {
    if (absl::Status checked = CheckRun(run, *signature_tensors); !checked.ok()) return checked;
    payload->events += run.kind.size();
  }
  payload->events += payload->repeats.events;
  return absl::OkStatus();
}

}  // namespace memoir
