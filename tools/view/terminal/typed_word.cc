#include "tools/view/terminal/typed_word.h"

#include "fmt/format.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {

bool IsPlainWord(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+=:,@%") ==
             std::string_view::npos;
}

std::string QuotedForShell(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string TypedWord(std::string_view word) {
  if (IsPlainWord(word)) return std::string(word);
  if (Escaped(word) == word) return QuotedForShell(word);
  std::string quoted = "$'";
  for (const char c : word) {
    const bool is_shown = c >= ' ' && c <= '~' && c != '\\' && c != '\'';
    // In octal, because a hexadecimal escape may include the digits after it.
    quoted += is_shown ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + "'";
}

}  // namespace memoir
