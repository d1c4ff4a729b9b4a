#include "tools/view/oom/requester_text.h"

#include <cstddef>

#include "fmt/format.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;

// Returns true if an optimizer called the model through a closure. In this case the optimizer's range does not show
// which code ran.
bool IsAroundTheModule(const OutOfMemory& error) {
  return error.range_name.starts_with("Optimizer.step#") && error.phase != Phase::kOptimizer;
}

}  // namespace

std::string RequestPlaceText(const OutOfMemory& error) {
  std::string place = error.operator_name.empty() ? "code outside of any operator" : QuotedHolder(error.operator_name);
  if (!error.module.empty()) place += " in " + QuotedHolder(error.module);
  if (!error.module_class.empty() && error.module_class != error.module)
    place += " (" + QuotedHolder(error.module_class) + ")";
  if (error.phase != Phase::kOther) place += ", " + std::string(ToString(error.phase));
  if (!error.range_name.empty() && !IsAroundTheModule(error)) place += ", range " + QuotedHolder(error.range_name);
  if (error.step) return place + fmt::format(", step {}", *error.step);
  if (error.optimizer_steps == 0) return place;
  return place + ", after " + FormatCounted(error.optimizer_steps, "optimizer step", "optimizer steps");
}

std::string RequesterText(const OutOfMemory& error) {
  const bool backward = error.phase == Phase::kBackward && error.line != error.backward_line;
  std::string text = (backward ? "backward of " : "") + ShownLine(error.line, kNameInLine);
  if (!error.module.empty()) text += ", in " + QuotedHolder(error.module);
  if (backward && error.backward_line.known()) text += ", called by " + ShownLine(error.backward_line, kNameInLine);
  return text;
}

}  // namespace memoir
