// Parses the marks that the recorder makes at the beginning and at the end of requested steps. A user can request,
// while a program runs, that its next steps are recorded with all operators (docs/event_schema.md, "Requested steps").
//
// Pure functions. The input is not trusted.
#ifndef TOOLS_MODEL_FULL_STEPS_NOTE_H_
#define TOOLS_MODEL_FULL_STEPS_NOTE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// The prefix of these marks, which come from Memoir and not from the program.
inline constexpr std::string_view kFullStepsNote = "memoir.steps_in_full ";

inline bool IsFullStepsNote(std::string_view mark) { return mark.starts_with(kFullStepsNote); }

struct FullStepsNote {
  std::uint64_t steps = 0;             // number of requested steps; 0: the requested steps have ended
  std::optional<std::uint64_t> first;  // number of the first requested step; empty: the step that began last
};
// Parses "memoir.steps_in_full 3" or "memoir.steps_in_full 3 120". nullopt for another mark, or for a malformed one.
std::optional<FullStepsNote> ParseFullStepsNote(std::string_view mark);

}  // namespace memoir

#endif  // TOOLS_MODEL_FULL_STEPS_NOTE_H_
