// What a process found of who holds its tensors (`run --holders`), as the recorder put it into marks
// (docs/event_schema.md, "Holders"): by which objects of the program the blocks at some addresses are held.
//
// Pure; trusts nothing.
#ifndef TOOLS_MODEL_HOLDER_NOTE_H_
#define TOOLS_MODEL_HOLDER_NOTE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace memoir {

// Marks that begin so are none of the program's.
inline constexpr std::string_view kHolderNote = "memoir.held_by ";

inline bool IsHolderNote(std::string_view mark) { return mark.starts_with(kHolderNote); }

struct HolderNote {
  std::vector<std::uint64_t> addresses;  // one at least
  std::string_view holder;               // "trainer.losses[...] (list, global of train.py)", a part of the mark
};
// Of "memoir.held_by 7f0000001000,7f0000002000 trainer.losses..."; nullopt: another mark, or not as it can be.
std::optional<HolderNote> ParseHolderNote(std::string_view mark);

}  // namespace memoir

#endif  // TOOLS_MODEL_HOLDER_NOTE_H_
