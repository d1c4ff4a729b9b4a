#include "tools/model/full_steps_note.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace memoir {
namespace {

// Removes a number from the front of `text` and returns it.
std::optional<std::uint64_t> TakeNumber(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<FullStepsNote> ParseFullStepsNote(std::string_view mark) {
  if (!IsFullStepsNote(mark)) return std::nullopt;
  mark.remove_prefix(kFullStepsNote.size());
  const std::optional<std::uint64_t> steps = TakeNumber(mark);
  if (!steps) return std::nullopt;
  FullStepsNote note{*steps, std::nullopt};
  if (mark.starts_with(' ')) {
    mark.remove_prefix(1);
    note.first = TakeNumber(mark);
    if (!note.first) return std::nullopt;
  }
  return mark.empty() ? std::optional(note) : std::nullopt;
}

}  // namespace memoir
