// Parses the marks that the recorder makes about holders (`memoir run --holders`; docs/event_schema.md, "Holders"). A
// mark names an object of the program, and the addresses of the blocks that the object holds.
//
// Pure functions. The input is not trusted.
#ifndef TOOLS_MODEL_HOLDER_NOTE_H_
#define TOOLS_MODEL_HOLDER_NOTE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memoir {

// The prefix of these marks, which come from Memoir and not from the program.
inline constexpr std::string_view kHolderNote = "memoir.held_by ";

inline bool IsHolderNote(std::string_view mark) { return mark.starts_with(kHolderNote); }

struct HolderNote {
  std::vector<std::uint64_t> addresses;  // at least one
  std::string_view holder;  // "trainer.losses[...] (list, global of train.py)"; points into the text of the mark
};
// Parses "memoir.held_by 7f0000001000,7f0000002000 trainer.losses...". nullopt for another mark, or for a malformed
// one.
std::optional<HolderNote> ParseHolderNote(std::string_view mark);

}  // namespace memoir

#endif  // TOOLS_MODEL_HOLDER_NOTE_H_
