// --brief of the verbs that have --json: their document in at most 4 KiB, with the next command.
#ifndef TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
#define TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_

#include <string>
#include <vector>

#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"

namespace memoir {

// Adds --json and --brief, which is --json too.
void AddJson(CLI::App& app, bool& json, bool& brief, const std::string& help);

// `json`: as the verb prints it. The next command is of the same part of the capture.
std::string BriefAnswer(const std::string& json, const SelectionArguments& selection, const std::string& capture);
// The next command is these words.
std::string BriefAnswer(const std::string& json, const std::vector<std::string>& next);
// Of a program on a simulated card: the next command records it there.
std::string BriefFit(const std::string& json, const std::string& card, const std::vector<std::string>& command);
// Of two captures: as `words` were typed, with the grouping that says most besides.
std::string BriefDiff(const std::string& json, const std::vector<std::string>& words);

}  // namespace memoir

#endif  // TOOLS_CLI_BRIEF_BRIEF_ANSWER_H_
