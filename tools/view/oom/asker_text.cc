#include "tools/view/oom/asker_text.h"

#include <cstddef>

#include "fmt/format.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;

}  // namespace

std::string Place(const OutOfMemory& error) {
  std::string place = error.operator_name.empty() ? "code outside of any operator" : Named(error.operator_name);
  if (!error.module.empty()) place += " in " + Named(error.module);
  if (!error.module_class.empty() && error.module_class != error.module)
    place += " (" + Named(error.module_class) + ")";
  if (error.phase != Phase::kOther) place += ", " + std::string(ToString(error.phase));
  if (!error.range_name.empty()) place += ", range " + Named(error.range_name);
  if (error.step) return place + fmt::format(", step {}", *error.step);
  if (error.optimizer_steps == 0) return place;
  return place + ", after " + FormatCounted(error.optimizer_steps, "optimizer step", "optimizer steps");
}

std::string AskedBy(const OutOfMemory& error) {
  const bool backward = error.phase == Phase::kBackward && error.line != error.backward_line;
  std::string text = (backward ? "backward of " : "") + ShownLine(error.line, kNameInLine);
  if (!error.module.empty()) text += ", in " + Named(error.module);
  if (backward && error.backward_line.known()) text += ", called by " + ShownLine(error.backward_line, kNameInLine);
  return text;
}

}  // namespace memoir
