#include "tracker/writer/dictionaries/names.h"

#include <algorithm>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

enum class Kind : std::uint8_t { kText = 0, kOperator = 1, kModule = 2, kCode = 3 };  // NameDef.Kind

// Limit on ids, because the ids in a damaged ring may be wrong. The ring's table has fewer names.
constexpr std::uint32_t kMaxRingNames = 1u << 20;

ContentHash HashName(Kind kind, std::string_view text) {
  char bytes[1 + kMaxRecordBytes];
  bytes[0] = static_cast<char>(kind);
  const std::size_t size = std::min(text.size(), kMaxRecordBytes);
  text.copy(bytes + 1, size);
  return HashBytes(bytes, size + 1);
}

// Hashes the root, the path and the class of a module. Readers recognize the module in other ranks by this hash. Each
// of the three texts has at most kMaxInlineName bytes.
ContentHash HashModule(const NameView& view) {
  std::string text(reinterpret_cast<const char*>(view.written), view.arguments);
  text.append(1, '\0').append(view.text, view.text_bytes).append(1, '\0').append(view.schema, view.schema_bytes);
  return HashName(Kind::kModule, text);
}

ContentHash HashCode(const NameView& view) {
  std::string text(view.schema, view.schema_bytes);
  text.append(1, '\0').append(view.text, view.text_bytes);
  return HashName(Kind::kCode, text);
}

ContentHash HashOf(const NameView& view, bool is_operator) {
  if (view.is_module) return HashModule(view);
  if (view.is_code) return HashCode(view);
  return HashName(is_operator ? Kind::kOperator : Kind::kText, {view.text, view.text_bytes});
}

Kind KindOf(const Names::Name& name) {
  if (name.is_operator) return Kind::kOperator;
  if (name.is_module) return Kind::kModule;
  return name.is_code ? Kind::kCode : Kind::kText;
}

// Adds schemas, one for each line. The first is the operator's own schema; the others are the schemas of its other
// overloads.
void AddSchemas(std::string_view lines, protozero::pbf_writer& definition) {
  for (auto field = field::name_def::kSchema; !lines.empty(); field = field::name_def::kOverloads) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    definition.add_string(field, lines.data(), end);  // NOLINT(bugprone-suspicious-stringview-data-usage): has a size
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

}  // namespace

Names::Name* Names::Add(const ContentHash& hash) {
  Name& name = names_[++last_id_];
  name.id = last_id_;
  name.hash = hash;
  return &name;
}

Names::Name* Names::FindOperator(std::uint32_t ring_id) {
  if (ring_id < operators_.size() && operators_[ring_id] != nullptr) [[likely]]
    return operators_[ring_id];
  NameView view;
  if (ring_id == 0 || ring_id >= kMaxRingNames || !ring_.FindName(ring_id, &view)) return nullptr;
  const bool is_operator = view.schema_bytes != 0 && !view.is_module && !view.is_code;
  Name* name = Add(HashOf(view, is_operator));
  name->ring_id = ring_id;
  name->is_operator = is_operator;
  name->is_module = view.is_module;
  name->is_code = view.is_code;
  if (operators_.size() <= ring_id) operators_.resize(std::size_t{ring_id} + 1);
  operators_[ring_id] = name;
  return name;
}

Names::Name* Names::FindText(std::string_view text) {
  const ContentHash hash = HashName(Kind::kText, text);
  if (const auto found = texts_.find(hash.low); found != texts_.end()) return &names_[found->second];
  if (texts_.size() >= max_texts_) ForgetUnused();
  Name* name = Add(hash);
  name->text = text;
  texts_.emplace(hash.low, name->id);
  KeepNote(*name);
  return name;
}

void Names::KeepNote(const Name& name) {
  const bool is_note = name.text.starts_with("torch.compile: ") && name.text.find('\t') != std::string::npos;
  if (!is_note || note_bytes_ + name.text.size() > kMaxNoteBytes || notes_.size() == max_texts_ / 2) return;
  note_bytes_ += name.text.size();
  notes_.push_back(name.id);
}

void Names::DefineNotes(std::uint32_t part, std::string* payload) {
  for (const std::uint32_t id : notes_) Define(&names_[id], part, payload);
}

Names::Name* Names::FindById(std::uint32_t id) {
  const auto found = names_.find(id);
  return found == names_.end() ? nullptr : &found->second;
}

void Names::ForgetUnused() {
  std::unordered_set<std::uint32_t> used;
  mark_used_(&used);
  // If the names in use are more than half of the maximum, they are also forgotten. Keyframes then lack the name of the
  // innermost range of some blocks.
  const bool keep_used = used.size() <= max_texts_ / 2;
  const std::unordered_set<std::uint32_t> notes(notes_.begin(), notes_.end());
  std::erase_if(texts_, [&](const auto& entry) {
    if (notes.contains(entry.second) || (keep_used && used.contains(entry.second))) return false;
    names_.erase(entry.second);
    return true;
  });
}

void Names::Define(Name* name, std::uint32_t part, std::string* payload) {
  if (name->part == part) return;
  name->part = part;
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer definition(message, field::payload::kNames);
  definition.add_uint32(field::name_def::kId, name->id);
  definition.add_bytes(field::name_def::kHash, CanonicalBytes(name->hash));
  NameView view{};
  if (name->ring_id == 0 || !ring_.FindName(name->ring_id, &view)) {
    definition.add_string(field::name_def::kText, name->text);
    return;
  }
  definition.add_enum(field::name_def::kKind, static_cast<int>(KindOf(*name)));
  definition.add_string(field::name_def::kText, view.text, view.text_bytes);
  if (name->is_code) definition.add_string(field::name_def::kCodeFile, view.schema, view.schema_bytes);
  if (name->is_module) {
    definition.add_string(field::name_def::kModuleClass, view.schema, view.schema_bytes);
    definition.add_string(field::name_def::kModuleRoot, reinterpret_cast<const char*>(view.written), view.arguments);
  }
  if (!name->is_operator) return;
  AddSchemas({view.schema, view.schema_bytes}, definition);
  protozero::packed_field_bool written(definition, field::name_def::kArgumentIsWritten);
  for (std::size_t i = 0; i < view.arguments; ++i) written.add_element(view.written[i] != 0);
}

}  // namespace memoir
