#include "tools/model/event/compiler_notes.h"

#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

constexpr std::string_view kPrefix = "torch.compile: ";
using Fields = std::vector<std::string_view>;

Fields Split(std::string_view text, char at) {
  Fields fields;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  fields.push_back(text);
  return fields;
}

std::optional<std::uint32_t> Number(std::string_view field) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc() && end == field.data() + field.size() ? std::optional(number) : std::nullopt;
}

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// Parses the rows of a note about generated code. The first field of a row is its kind: "t" (texts), "o" (an origin) or
// "l" (the origins of a generated line). Rows refer to texts and origins by index.
class GeneratedNote {
 public:
  explicit GeneratedNote(std::string_view file) { lines_.file = file; }

  bool Add(const Fields& row) {
    if (row[0] == "t") {
      for (std::size_t i = 1; i < row.size(); ++i) texts_.emplace_back(row[i]);
      return true;
    }
    if (row[0] == "o") return AddOrigin(row);
    return row[0] == "l" && AddLine(row);
  }
  GeneratedLines Take() { return std::move(lines_); }

 private:
  const std::string* Text(std::string_view field) const {
    const auto number = Number(field);
    return number && *number < texts_.size() ? &texts_[*number] : nullptr;
  }

  bool AddOrigin(const Fields& row) {
    if (row.size() < 5 || (row.size() - 5) % 3 != 0) return false;
    CodeOrigin origin;
    std::string* const to[] = {&origin.root, &origin.path, &origin.module_class, &origin.operation};
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string* text = Text(row[i + 1]);
      if (text == nullptr) return false;
      *to[i] = *text;
    }
    for (std::size_t i = 5; i < row.size(); i += 3) {
      const std::string *file = Text(row[i]), *function = Text(row[i + 1]);
      const auto line = Number(row[i + 2]);
      if (file == nullptr || function == nullptr || !line) return false;
      origin.frames.push_back({*file, *function, *line});
    }
    origins_.push_back(std::move(origin));
    return true;
  }

  bool AddLine(const Fields& row) {
    const auto line = row.size() < 2 ? std::nullopt : Number(row[1]);
    if (!line) return false;
    std::vector<CodeOrigin> origins;
    for (std::size_t i = 2; i < row.size(); ++i) {
      const auto number = Number(row[i]);
      if (!number || *number >= origins_.size()) return false;
      origins.push_back(origins_[*number]);
    }
    lines_.origins[*line] = std::move(origins);
    return true;
  }

  GeneratedLines lines_;
  std::vector<std::string> texts_ = {""};
  std::vector<CodeOrigin> origins_;
};

std::optional<CompilerNote> ParseGenerated(const Fields& rows) {
  const Fields first = Split(rows[0], '\t');
  if (first.size() != 2) return std::nullopt;
  GeneratedNote note(first[1]);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!note.Add(Split(rows[i], '\t'))) return std::nullopt;
  }
  CompilerNote parsed;
  parsed.generated = note.Take();
  return parsed;
}

std::optional<CompilerNote> ParseCompilation(std::string_view row) {
  const Fields fields = Split(row, '\t');
  if (fields.size() != 7) return std::nullopt;
  Compilation compilation;
  if (fields[0] == "backward") compilation.kind = Compilation::Kind::kBackward;
  if (fields[0] == "break") compilation.kind = Compilation::Kind::kGraphBreak;
  compilation.id = fields[1];
  compilation.function = fields[2];
  compilation.file = fields[3];
  compilation.line = Number(fields[4]).value_or(0);
  compilation.reason = fields[5];
  compilation.failure = fields[6];
  CompilerNote parsed;
  parsed.compilation = std::move(compilation);
  return parsed;
}

}  // namespace

std::string ToString(const Compilation& compilation) {
  std::string text;
  switch (compilation.kind) {
    case Compilation::Kind::kGraphBreak:
      text = "graph break";
      break;
    case Compilation::Kind::kBackward:
      text = absl::StrCat("compiled ", compilation.id, ", backward of");
      break;
    case Compilation::Kind::kForward:
      text = absl::StrCat(compilation.reason.empty() ? "compiled " : "recompiled ", compilation.id);
      break;
  }
  absl::StrAppend(&text, compilation.kind == Compilation::Kind::kGraphBreak ? " in " : " ", compilation.function, " (",
                  FileName(compilation.file), ":", compilation.line, ")");
  if (!compilation.failure.empty()) absl::StrAppend(&text, ": failed: ", compilation.failure);
  if (!compilation.reason.empty()) absl::StrAppend(&text, ": ", compilation.reason);
  return text;
}

std::optional<CompilerNote> ParseCompilerNote(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const bool generated = text.starts_with("code\t");
  const bool known =
      generated || text.starts_with("forward\t") || text.starts_with("backward\t") || text.starts_with("break\t");
  if (!known) return std::nullopt;
  const Fields rows = Split(text, '\n');
  return generated ? ParseGenerated(rows) : ParseCompilation(rows[0]);
}

}  // namespace memoir
