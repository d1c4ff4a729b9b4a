// Text that may be shown on a terminal. Captures are untrusted: a name in one must not move the cursor, change colours
// or reverse what follows.
#ifndef TOOLS_VIEW_TERMINAL_TERMINAL_TEXT_H_
#define TOOLS_VIEW_TERMINAL_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace memoir {

// Printable UTF-8 as it is; control characters, invalid bytes, and characters that reorder or hide text as \n, \x1b,
// \u{202e}.
std::string Escaped(std::string_view text);

// JSON text, in which the same characters from U+007F on are \\u escapes: they stand in strings alone, and mean the
// same.
std::string EscapedInJson(std::string_view json);

// A name from a capture, escaped; "(unnamed)" for one that is empty.
std::string ShownName(std::string_view name);

// Columns that `text` (valid UTF-8, escaped) takes: 2 for East Asian wide characters and emoji, 0 for combining marks.
std::size_t DisplayWidth(std::string_view text);

// `text` cut in its middle to at most `width` columns, "…" for what is gone: names differ at both ends.
std::string Shortened(std::string_view text, std::size_t width);

// `text` broken at spaces so that no line passes `width` where that can be; lines after the first begin with `indent`
// spaces, and the first is taken to stand at that column already. No newline at the end.
std::string Wrapped(std::string_view text, std::size_t width, std::size_t indent);

std::string PaddedRight(std::string_view text, std::size_t width);
std::string PaddedLeft(std::string_view text, std::size_t width);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_TERMINAL_TEXT_H_
