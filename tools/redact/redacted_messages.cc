#include "tools/redact/redacted_messages.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/files/chunk_bytes.h"
#include "tools/read/symbols.h"
#include "tools/redact/hashed_free_texts.h"
#include "tools/redact/hashed_paths.h"
#include "tools/redact/hashed_words.h"
#include "tools/redact/public_names.h"

namespace memoir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string Kept(std::string_view text, NameHashes&) { return std::string(text); }
std::string File(std::string_view text, NameHashes& hashes) { return HashedFileOf(text, hashes).path; }
std::string Number(std::string_view text, NameHashes& hashes) { return text.empty() ? "" : hashes.HashDigitsOf(text); }

bool ConsistsOf(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == std::string_view::npos;
}

// Keeps words that the tracker writes: "torchrun", "cpu-allocator", "float32", "cuda". Hashes texts that are too long
// or contain other characters.
std::string OwnWord(std::string_view text, NameHashes& hashes) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
  return text.size() <= 40 && ConsistsOf(text, kLetters) ? std::string(text) : HashedText(text, hashes);
}

// Keeps names of products: "NVIDIA H100 80GB HBM3", "h100, alone of 8 ranks".
std::string Product(std::string_view text, NameHashes& hashes) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,()- ";
  return text.size() <= 80 && ConsistsOf(text, kLetters) ? std::string(text) : HashedText(text, hashes);
}

// Keeps torch's own settings: "expandable_segments:True,roundup_power2_divisions:[256:1,>:8]".
std::string AllocatorSettings(std::string_view text, NameHashes& hashes) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:,[]>-";
  constexpr std::array<std::string_view, 13> kSettings = {"backend",
                                                          "expandable_segments",
                                                          "garbage_collection_threshold",
                                                          "graph_capture_record_stream_reuse",
                                                          "max_non_split_rounding_mb",
                                                          "max_split_size_mb",
                                                          "per_process_memory_fraction",
                                                          "pinned_num_register_threads",
                                                          "pinned_reserve_segment_size_mb",
                                                          "pinned_use_background_threads",
                                                          "pinned_use_cuda_host_register",
                                                          "release_lock_on_cudamalloc",
                                                          "roundup_power2_divisions"};
  bool known = text.size() <= 400 && ConsistsOf(text, kLetters);
  for (std::string_view rest = text; known && !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const std::string_view name = item.substr(0, item.find(':'));
    known = std::ranges::find(kSettings, name) != kSettings.end() || ConsistsOf(name, "0123456789>");
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  }
  return known ? std::string(text) : HashedText(text, hashes);
}

// Keeps common names of parallel dimensions, which readers interpret.
std::string Dimension(std::string_view text, NameHashes& hashes) {
  constexpr std::array<std::string_view, 18> kNames = {
      "cp",     "context", "data", "dp",       "dp_cp", "dp_replicate", "dp_shard", "ep",     "etp",
      "expert", "fsdp",    "pipe", "pipeline", "pp",    "sp",           "stage",    "tensor", "tp"};
  return std::ranges::find(kNames, text) != kNames.end() ? std::string(text) : HashedText(text, hashes);
}

// Redacts "slurm-71.4/node1-100-17" part by part, because readers compare launchers, jobs and steps.
std::string Run(std::string_view text, NameHashes& hashes) {
  const std::size_t ends = text.find('/');
  if (ends == std::string_view::npos) return HashedText(text, hashes);
  const std::string own = "/" + HashedText(text.substr(ends + 1), hashes);
  const std::string_view launched = text.substr(0, ends);
  const std::string_view launcher = launched.substr(0, launched.find('-'));
  if (launcher != "slurm" && launcher != "torchrun" && launcher != "pmix") return HashedText(launched, hashes) + own;
  const std::string_view job = launched.substr(std::min(launched.size(), launcher.size() + 1));
  const std::string_view number = launcher == "slurm" ? job.substr(0, job.find('.')) : job;
  const std::string_view step = job.substr(std::min(job.size(), number.size() + 1));
  return std::string(launcher) + "-" + HashedText(number, hashes) +
         (step.empty() ? "" : "." + HashedText(step, hashes)) + own;
}

using Rule = std::string (*)(std::string_view, NameHashes&);
const absl::flat_hash_map<std::string_view, Rule>& Rules() {
  static const auto& rules = *new absl::flat_hash_map<std::string_view, Rule>{
      {"memoir.v1.ProcessInfo.host", HashedText},
      {"memoir.v1.ProcessInfo.rank_source", OwnWord},
      {"memoir.v1.ProcessInfo.program", File},
      {"memoir.v1.ProcessInfo.memoir_version", HashedVersion},
      {"memoir.v1.ProcessInfo.torch_version", HashedVersion},
      {"memoir.v1.ProcessInfo.python_version", HashedVersion},
      {"memoir.v1.ProcessInfo.ring_path", File},
      {"memoir.v1.ProcessInfo.sources", OwnWord},
      {"memoir.v1.ProcessInfo.simulated_device", Product},
      {"memoir.v1.ProcessInfo.boot_id", HashedText},
      {"memoir.v1.ProcessInfo.rank_conflict", HashedText},
      {"memoir.v1.ProcessInfo.run", Run},
      {"memoir.v1.ProcessInfo.allocator_settings", AllocatorSettings},
      {"memoir.v1.Coordinate.dimension", Dimension},
      {"memoir.v1.Unrecorded.why", HashedText},
      {"memoir.v1.NameDef.hash", Kept},  // RedactName sets it to the hash of the redacted fields
      {"memoir.v1.NameDef.text", Kept},
      {"memoir.v1.NameDef.schema", Kept},
      {"memoir.v1.NameDef.module_class", Kept},
      {"memoir.v1.NameDef.overloads", Kept},
      {"memoir.v1.NameDef.module_root", Kept},
      {"memoir.v1.NameDef.code_file", Kept},
      {"memoir.v1.LayoutDef.hash", Kept},  // hash of a shape, which is not redacted
      {"memoir.v1.LayoutDef.dtype_name", OwnWord},
      {"memoir.v1.SignatureDef.kinds", Kept},
      {"memoir.v1.ThreadDef.name", HashedThread},
      {"memoir.v1.DeviceDef.type", OwnWord},
      {"memoir.v1.DeviceDef.product", Product},
      {"memoir.v1.ThreadRun.kind", Kept},
      {"memoir.v1.OpenRanges.kind", Kept},
      {"memoir.v1.Counters.last_write_error", HashedText},
      {"memoir.v1.End.message", HashedText},
      {"memoir.v1.TracebackFrame.file", File},
      {"memoir.v1.TracebackFrame.function", HashedText},
      {"memoir.v1.SymbolObject.path", File},
      {"memoir.v1.SymbolObject.build_id", Number},
      {"memoir.v1.SymbolFunction.name", Kept},  // Redact(Symbols) redacts it
      {"memoir.v1.SymbolFunction.file", File},
  };
  return rules;
}

void RedactField(Message& message, const FieldDescriptor& field, NameHashes& hashes) {
  const auto* const reflection = message.GetReflection();
  const auto rule = Rules().find(field.full_name());
  const auto hashed = [&](const std::string& text) {
    return rule == Rules().end() ? HashedText(text, hashes) : rule->second(text, hashes);
  };
  if (!field.is_repeated()) {
    reflection->SetString(&message, &field, hashed(reflection->GetString(message, &field)));
    return;
  }
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i)
    reflection->SetRepeatedString(&message, &field, i, hashed(reflection->GetRepeatedString(message, &field, i)));
}

void RedactTexts(Message& message, NameHashes& hashes) {
  const auto* const reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) RedactField(message, *field, hashes);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) RedactTexts(*reflection->MutableMessage(&message, field), hashes);
    for (int i = 0; field->is_repeated() && i < reflection->FieldSize(message, field); ++i)
      RedactTexts(*reflection->MutableRepeatedMessage(&message, field, i), hashes);
  }
}

void RedactCode(v1::NameDef& name, NameHashes& hashes) {
  const HashedFile file = HashedFileOf(name.code_file(), hashes);
  if (IsNativeObject(name.text())) {
    const std::string build_id = NativeObjectOf("", name.text()).build_id;
    name.set_text(name.text().substr(0, name.text().size() - build_id.size()) + Number(build_id, hashes));
  } else if (!file.is_public) {
    name.set_text(HashedCode(name.text(), hashes));
  }
  name.set_code_file(file.path);
}

void RedactName(v1::NameDef& name, NameHashes& hashes) {
  switch (name.kind()) {
    case v1::NameDef::OPERATOR:
      name.set_schema(HashedSchema(name.schema(), hashes));
      for (std::string& overload : *name.mutable_overloads()) overload = HashedSchema(overload, hashes);
      name.set_text(HashedOperator(name.text(), hashes));
      break;
    case v1::NameDef::MODULE:
      name.set_text(HashedPath(name.text(), hashes));
      name.set_module_class(HashedPath(name.module_class(), hashes));
      name.set_module_root(HashedRoot(name.module_root(), hashes));
      break;
    case v1::NameDef::CODE:
      RedactCode(name, hashes);
      break;
    default:
      name.set_text(HashedFreeText(name.text(), hashes));
  }
  // Removes fields that the kind of name does not have.
  if (name.kind() != v1::NameDef::OPERATOR) {
    name.clear_schema();
    name.clear_overloads();
  }
  if (name.kind() != v1::NameDef::MODULE) {
    name.clear_module_class();
    name.clear_module_root();
  }
  if (name.kind() != v1::NameDef::CODE) name.clear_code_file();
  if (!name.hash().empty()) name.set_hash(HashOf(name));
}

}  // namespace

void Redact(v1::ProcessInfo& process, NameHashes& hashes) {
  process.DiscardUnknownFields();
  RedactTexts(process, hashes);
}

void Redact(v1::Payload& payload, NameHashes& hashes) {
  payload.DiscardUnknownFields();
  for (v1::NameDef& name : *payload.mutable_names()) RedactName(name, hashes);
  RedactTexts(payload, hashes);
}

void Redact(v1::Symbols& symbols, NameHashes& hashes) {
  symbols.DiscardUnknownFields();
  for (v1::SymbolObject& object : *symbols.mutable_object()) {
    const bool is_public = HashedFileOf(object.path(), hashes).is_public;
    for (v1::SymbolAddress& address : *object.mutable_address()) {
      for (v1::SymbolFunction& function : *address.mutable_function())
        if (!is_public) function.set_name(HashedFunction(function.name(), hashes));
    }
  }
  RedactTexts(symbols, hashes);
}

bool HasRedactionRule(std::string_view field) { return Rules().contains(field); }

}  // namespace memoir
