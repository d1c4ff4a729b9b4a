// Formats lines of the program. A file is shown by the shortest end of its path that is unique among the shown files,
// because a table has no room for "/src/me/projects/train/models/net.py".
#ifndef TOOLS_VIEW_CAPTURE_LINE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_LINE_TEXT_H_

#include <cstddef>
#include <cstdint>
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
  // `files`: all files that are shown together; duplicates are allowed.
  explicit ShownFiles(absl::Span<const std::string_view> files);

  // Returns "net.py", or "models/net.py" if another file has the same name. For a file that was not passed in, returns
  // the last part of its path.
  std::string_view NameOf(std::string_view file) const;
  // Returns "net.py:12 Net.forward", not escaped. Empty if the line is unknown.
  std::string LineText(const SourceLine& line) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;  // shown names of files whose last part is not unique
};

// Returns "net.py:12 Net.forward", escaped and cut to `width` columns.
std::string ShownLine(const SourceLine& line, std::size_t width);
// Returns "net.py:12", escaped and cut to `width` columns.
std::string ShownPlace(const SourceLine& line, std::size_t width);

// Returns "a second copy of the parameters, 1.2 GiB, made at serve.py:59".
std::string SecondCopyText(std::uint64_t bytes, const SourceLine& line);

// Shortens the path in the name of each row that stands for a source line.
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

// Adds "file", "line" and "function"; null if the line is unknown.
void AddLine(Json& json, const SourceLine& line);
// Adds "via" if it is not empty: lines of generated code, each with the operations that it carries out.
void AddVia(Json& json, absl::Span<const GeneratedPlace> via);
// Returns an object with the keys of AddLine; null if the line is unknown.
Json LineJson(const SourceLine& line);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_LINE_TEXT_H_
