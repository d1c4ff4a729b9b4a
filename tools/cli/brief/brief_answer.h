// The output with --brief, for verbs that have --json: the JSON document shortened to at most 4 KiB, and the command
// that shows more.
#ifndef TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
#define TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_

#include <string>
#include <vector>

#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"

namespace memoir {

// Adds the options --json and --brief; --brief implies --json.
void AddJson(CLI::App& app, bool& json, bool& brief, const std::string& help);

// Returns the answer of a verb that reads one capture. `json`: the verb's output with --json. The next command has the
// same selection.
std::string BriefAnswer(const std::string& json, const SelectionArguments& selection, const std::string& capture);
// Returns the answer with `next` as the next command.
std::string BriefAnswer(const std::string& json, const std::vector<std::string>& next);
// Returns the answer of `memoir fit`. The next command records `command` on the simulated card `card`.
std::string BriefFit(const std::string& json, const std::string& card, const std::vector<std::string>& command);
// Returns the answer of `memoir diff`. `words`: the arguments of diff. The next command has the same arguments, but its
// --by is the grouping that shows most.
std::string BriefDiff(const std::string& json, const std::vector<std::string>& words);

}  // namespace memoir

#endif  // TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
