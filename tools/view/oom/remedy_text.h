// Changes that would have made room for a refused request, as far as the recording shows them.
#ifndef TOOLS_VIEW_OOM_REMEDY_TEXT_H_
#define TOOLS_VIEW_OOM_REMEDY_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/summary/summary.h"

namespace memoir {

// A `Remedy` is a change that would have made room.
struct Remedy {
  std::string text;
  std::optional<std::uint64_t> bytes;  // most bytes that it frees or makes usable; nullopt: unknown
};

// Returns the remedies, the most useful first. Empty if the recording shows no remedy.
std::vector<Remedy> RemediesOf(const OutOfMemory& error, const Summary& summary);
// Returns the texts of the remedies as one line. Empty if the recording shows no remedy.
std::string RemedyText(const OutOfMemory& error, const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_REMEDY_TEXT_H_
