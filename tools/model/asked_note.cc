#include "tools/model/asked_note.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace memoir {
namespace {

// At the begin of `text`, which loses it.
std::optional<std::uint64_t> TakeNumber(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<AskedNote> ParseAskedNote(std::string_view mark) {
  if (!IsAskedNote(mark)) return std::nullopt;
  mark.remove_prefix(kAskedNote.size());
  const std::optional<std::uint64_t> steps = TakeNumber(mark);
  if (!steps) return std::nullopt;
  AskedNote note{*steps, std::nullopt};
  if (mark.starts_with(' ')) {
    mark.remove_prefix(1);
    note.first = TakeNumber(mark);
    if (!note.first) return std::nullopt;
  }
  return mark.empty() ? std::optional(note) : std::nullopt;
}

}  // namespace memoir
