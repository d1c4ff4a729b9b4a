// Finds the known word that the user probably meant with a mistyped word. The found word appears only in messages.
// Memoir never uses it in the place of the typed word.
#ifndef TOOLS_CLI_TERMINAL_NEAREST_H_
#define TOOLS_CLI_TERMINAL_NEAREST_H_

#include <span>
#include <string>
#include <string_view>

namespace memoir {

// Returns the word of `known` with the smallest edit distance to `word`. Empty if all words differ in more than a third
// of the letters. A word that begins with `word` has the distance 1.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

// Returns "; did you mean X?"; "" if no known word is near.
std::string DidYouMean(std::string_view word, std::span<const std::string> known);

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_NEAREST_H_
