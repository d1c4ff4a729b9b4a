// Words of a command that users paste into a shell.
#ifndef TOOLS_VIEW_TERMINAL_TYPED_WORD_H_
#define TOOLS_VIEW_TERMINAL_TYPED_WORD_H_

#include <string>
#include <string_view>

namespace memoir {

// Returns true if every shell reads `word` unchanged.
bool IsPlainWord(std::string_view word);

// Returns `word` in single quotes. Every shell reads it as one word, whatever bytes it contains.
std::string QuotedForShell(std::string_view word);

// Returns `word` for a printed command: unchanged if a shell reads it so, otherwise quoted. Characters that must not be
// shown on a terminal (terminal_text.h) become escapes, $'a\033', which bash, zsh and ksh read.
std::string TypedWord(std::string_view word);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_TYPED_WORD_H_
