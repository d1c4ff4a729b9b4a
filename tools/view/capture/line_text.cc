#include "tools/view/capture/line_text.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Returns the last `parts` parts of a path, or the whole path if it has fewer parts.
std::string_view End(std::string_view path, std::size_t parts) {
  std::size_t at = path.size();
  for (std::size_t i = 0; i < parts && at != std::string_view::npos && at > 0; ++i) at = path.rfind('/', at - 1);
  return at == std::string_view::npos || at == 0 ? path : path.substr(at + 1);
}

Json OriginJson(const CodeOrigin& origin) {
  Json json = Json::object();
  const bool known = !origin.frames.empty();
  AddLine(json, known ? SourceLine{origin.frames.back().file, origin.frames.back().function, origin.frames.back().line}
                      : SourceLine());
  const std::string& module = origin.path.empty() ? origin.root : origin.path;
  json["module"] = origin.module_class.empty() ? Json(nullptr) : Json(module);
  json["operation"] = origin.operation.empty() ? Json(nullptr) : Json(origin.operation);
  return json;
}

}  // namespace

ShownFiles::ShownFiles(absl::Span<const std::string_view> files) {
  // Files whose last kMostParts parts are equal are shown with their whole paths.
  constexpr std::size_t kMostParts = 8;
  absl::flat_hash_set<std::string_view> distinct(files.begin(), files.end());
  std::vector<std::string_view> alike(distinct.begin(), distinct.end());
  for (std::size_t parts = 1; !alike.empty(); ++parts) {
    absl::flat_hash_map<std::string_view, int> count;
    for (const std::string_view file : alike) ++count[End(file, parts)];
    std::vector<std::string_view> still;
    for (const std::string_view file : alike) {
      const std::string_view end = End(file, parts);
      const bool differs = count[end] == 1 || end == file;
      if (!differs && parts < kMostParts) {
        still.push_back(file);
      } else if (parts > 1) {
        names_[std::string(file)] = std::string(differs ? end : file);
      }
    }
    alike = std::move(still);
  }
}

std::string_view ShownFiles::NameOf(std::string_view file) const {
  const auto found = names_.find(file);
  return found == names_.end() ? End(file, 1) : std::string_view(found->second);
}

std::string ShownFiles::LineText(const SourceLine& line) const {
  return ToString(SourceLine{std::string(NameOf(line.file)), line.function, line.line});
}

std::string ShownLine(const SourceLine& line, std::size_t width) {
  return Shortened(Escaped(ShownFiles({}).LineText(line)), width);
}

std::string ShownPlace(const SourceLine& line, std::size_t width) {
  return Shortened(Escaped(PlaceOf({std::string(End(line.file, 1)), line.function, line.line})), width);
}

std::string SecondCopyText(std::uint64_t bytes, const SourceLine& line) {
  constexpr std::size_t kNameInLine = 40;
  const std::string made = line.known() ? ", made at " + ShownPlace(line, kNameInLine) : "";
  return "a second copy of the parameters, " + FormatBytes(bytes) + made;
}

void AddLine(Json& json, const SourceLine& line) {
  json["file"] = line.known() ? Json(line.file) : Json(nullptr);
  json["line"] = line.line > 0 ? Json(line.line) : Json(nullptr);
  json["function"] = line.known() ? Json(line.function) : Json(nullptr);
}

void AddVia(Json& json, absl::Span<const GeneratedPlace> via) {
  if (via.empty()) return;
  json["via"] = Json::array();
  for (const GeneratedPlace& place : via) {
    Json generated = LineJson(place.line);
    generated["origins"] = Json::array();
    for (const CodeOrigin& origin : place.origins) generated["origins"].push_back(OriginJson(origin));
    json["via"].push_back(std::move(generated));
  }
}

Json LineJson(const SourceLine& line) {
  if (!line.known()) return nullptr;
  Json json = Json::object();
  AddLine(json, line);
  return json;
}

}  // namespace memoir
