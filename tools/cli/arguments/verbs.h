// The verbs of the program. Each function receives the words after the verb, and returns the exit code.
#ifndef TOOLS_CLI_ARGUMENTS_VERBS_H_
#define TOOLS_CLI_ARGUMENTS_VERBS_H_

#include <string>
#include <vector>

namespace memoir {

int RunVerb(const std::vector<std::string>& arguments);        // memoir run
int ShowVerb(const std::vector<std::string>& arguments);       // memoir show, memoir CAPTURE
int LiveVerb(const std::vector<std::string>& arguments);       // memoir live
int CheckVerb(const std::vector<std::string>& arguments);      // memoir check
int DiffVerb(const std::vector<std::string>& arguments);       // memoir diff
int FitVerb(const std::vector<std::string>& arguments);        // memoir fit
int ExplainVerb(const std::vector<std::string>& arguments);    // memoir explain
int ExportVerb(const std::vector<std::string>& arguments);     // memoir export
int QueryVerb(const std::vector<std::string>& arguments);      // memoir query
int ReportVerb(const std::vector<std::string>& arguments);     // memoir report
int RevealVerb(const std::vector<std::string>& arguments);     // memoir reveal
int SymbolizeVerb(const std::vector<std::string>& arguments);  // memoir symbolize
int SummarizeVerb(const std::vector<std::string>& arguments);  // memoir summarize
int CollectVerb(const std::vector<std::string>& arguments);    // memoir collect
int DoctorVerb(const std::vector<std::string>& arguments);     // memoir doctor

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_VERBS_H_
