// Lines of the program in text: files by as much of the end of their paths as tells them apart, since a table has no
// room for "/src/me/projects/train/models/net.py".
#ifndef TOOLS_VIEW_CAPTURE_LINE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_LINE_TEXT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/view/json/json.h"

namespace memoir {

class ShownFiles {
 public:
  // All that are shown together; as often as they come.
  explicit ShownFiles(absl::Span<const std::string_view> files);

  // "net.py", or "models/net.py" where there is another one. Of a file that it was not told of the last part.
  std::string_view NameOf(std::string_view file) const;
  // "net.py:12 Net.forward", not escaped; "" of none.
  std::string LineText(const SourceLine& line) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;  // of those whose last part is not enough
};

// Of a line by itself, escaped and cut to `width` columns.
std::string ShownLine(const SourceLine& line, std::size_t width);
// The same without its function: "net.py:12".
std::string ShownPlace(const SourceLine& line, std::size_t width);

// In rows of lines: the row's name as the analysis has it, with the file in short.
template <class Rows>
void ShortenFiles(Rows& rows) {
  std::vector<std::string_view> files;
  for (const auto& row : rows) {
    if (row.source.known()) files.push_back(row.source.file);
  }
  const ShownFiles shown(files);
  for (auto& row : rows) {
    const std::string full = ToString(row.source);
    if (row.source.known() && row.name.starts_with(full))
      row.name = shown.LineText(row.source) + row.name.substr(full.size());
  }
}

// "file", "line" and "function"; null where there is none.
void AddLine(Json& json, const SourceLine& line);
// "via", where there is any: lines of generated code, each with all the operations that it carries out.
void AddVia(Json& json, absl::Span<const GeneratedPlace> via);
// An object of these; null of none.
Json LineJson(const SourceLine& line);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_LINE_TEXT_H_
