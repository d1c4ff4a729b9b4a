// Makes text safe for a terminal. Captures are untrusted: a name must not move the cursor, change colours, or reverse
// the text after it.
#ifndef TOOLS_VIEW_TERMINAL_TERMINAL_TEXT_H_
#define TOOLS_VIEW_TERMINAL_TERMINAL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace memoir {

// Keeps printable UTF-8. Control characters, invalid bytes, and characters that reorder or hide text become escapes
// such as \n, \x1b and \u{202e}.
std::string Escaped(std::string_view text);

// Returns JSON text in which such characters from U+007F on are \\u escapes. They occur only in strings, whose values
// do not change.
std::string EscapedInJson(std::string_view json);

// Returns an escaped name from a capture; "(unnamed)" for an empty name.
std::string ShownName(std::string_view name);

// Returns the columns of `text` (valid UTF-8, escaped): 2 for East Asian wide characters and emoji, 0 for combining
// marks.
std::size_t DisplayWidth(std::string_view text);

// Cuts `text` in its middle to at most `width` columns, with "…" for the omitted part, because names differ at both
// ends.
std::string Shortened(std::string_view text, std::size_t width);

// Breaks `text` at spaces so that lines have at most `width` columns, if possible. Lines after the first begin with
// `indent` spaces; the first line is assumed to begin at this column already. No newline at the end.
std::string Wrapped(std::string_view text, std::size_t width, std::size_t indent);

std::string PaddedRight(std::string_view text, std::size_t width);
std::string PaddedLeft(std::string_view text, std::size_t width);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_TERMINAL_TEXT_H_
