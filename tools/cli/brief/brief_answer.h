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

// `json` is the verb's output. The next command has the same selection.
std::string BriefAnswer(const std::string& json, const SelectionArguments& selection, const std::string& capture);
// `next` is the next command.
std::string BriefAnswer(const std::string& json, const std::vector<std::string>& next);
// For a program on a simulated card. The next command records it there.
std::string BriefFit(const std::string& json, const std::string& card, const std::vector<std::string>& command);
// For two captures. The next command is `words` as typed, with the grouping that says most.
std::string BriefDiff(const std::string& json, const std::vector<std::string>& words);

}  // namespace memoir

#endif  // TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
