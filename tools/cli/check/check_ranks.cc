#include "tools/cli/check/check_ranks.h"

#include <unistd.h>

#include "fmt/format.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/ranks/compared_job.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/ranks/odd_ranks_view.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {

absl::StatusOr<CheckResult> CheckRanks(const std::string& path, const CheckArguments& arguments) {
  absl::StatusOr<ComparedJob> compared = CompareRanks(path, RunOf(arguments.run));
  if (!compared.ok()) return compared.status();
  ComparePrograms(path, *compared);
  const auto& [job, overview, found] = *compared;
  if (job.runs > 1 && job.run != kAllRuns)
    PrintMessage(fmt::format("run {} of {}; --run N shows another", job.run, job.runs));
  CheckResult checked;
  checked.found = IsFinding(overview, found);
  const Terminal terminal = DetectTerminal(STDOUT_FILENO);
  if (!arguments.json) {
    const std::string run = arguments.run == "last" ? "" : "--run " + arguments.run + " ";
    checked.text =
        RenderOddRanks(job, overview, found, arguments.top.value_or(8), run + Escaped(TypedPath(path)), terminal);
    return checked;
  }
  checked.text = ToText(OddRanksJson(job, overview, found));
  if (arguments.brief) checked.text = BriefAnswer(checked.text, arguments, path);
  return checked;
}

}  // namespace memoir
