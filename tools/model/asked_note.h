// Steps that somebody asked for in full while the program ran, as the recorder put their begin and end into marks
// (docs/event_schema.md, "Steps that were asked for").
//
// Pure; trusts nothing.
#ifndef TOOLS_MODEL_ASKED_NOTE_H_
#define TOOLS_MODEL_ASKED_NOTE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// Marks that begin so are none of the program's.
inline constexpr std::string_view kAskedNote = "memoir.steps_in_full ";

inline bool IsAskedNote(std::string_view mark) { return mark.starts_with(kAskedNote); }

struct AskedNote {
  std::uint64_t steps = 0;             // that were asked for; 0: they are over
  std::optional<std::uint64_t> first;  // where it is not the newest step that readers have found
};
// Of "memoir.steps_in_full 3" or "memoir.steps_in_full 3 120"; nullopt: another mark, or not as it can be.
std::optional<AskedNote> ParseAskedNote(std::string_view mark);

}  // namespace memoir

#endif  // TOOLS_MODEL_ASKED_NOTE_H_
