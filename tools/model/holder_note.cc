#include "tools/model/holder_note.h"

#include <charconv>
#include <system_error>

namespace memoir {

std::optional<HolderNote> ParseHolderNote(std::string_view mark) {
  constexpr int kHexadecimal = 16;
  if (!mark.starts_with(kHolderNote)) return std::nullopt;
  mark.remove_prefix(kHolderNote.size());
  HolderNote note;
  for (;;) {
    std::uint64_t address = 0;
    const auto [at, error] = std::from_chars(mark.data(), mark.data() + mark.size(), address, kHexadecimal);
    if (error != std::errc() || at == mark.data() + mark.size()) return std::nullopt;
    note.addresses.push_back(address);
    const char separator = *at;
    mark.remove_prefix(static_cast<std::size_t>(at - mark.data()) + 1);
    if (separator == ' ') break;
    if (separator != ',') return std::nullopt;
  }
  note.holder = mark;
  return mark.empty() ? std::nullopt : std::optional(note);
}

}  // namespace memoir
