// The answer to --brief of verbs that have --json: their document in at most 4 KiB, and the next command.
#ifndef TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
#define TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_

#include <string>
#include <vector>

#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"

namespace memoir {

// Adds --json and --brief; --brief implies --json.
void AddJson(CLI::App& app, bool& json, bool& brief, const std::string& help);

// Returns the answer for a view of one capture. `json`: the verb's output. The next command has the same selection.
std::string BriefAnswer(const std::string& json, const SelectionArguments& selection, const std::string& capture);
// Returns the answer with the next command `next`.
std::string BriefAnswer(const std::string& json, const std::vector<std::string>& next);
// Returns the answer for `memoir fit`. The next command runs `command` on the simulated card and records it.
std::string BriefFit(const std::string& json, const std::string& card, const std::vector<std::string>& command);
// Returns the answer for two captures. The next command is `words`, with the grouping that shows most.
std::string BriefDiff(const std::string& json, const std::vector<std::string>& words);

}  // namespace memoir

#endif  // TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
