// memoir: chooses the verb. `memoir CAPTURE` is `memoir show CAPTURE`.
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/message.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/read/protobuf_log.h"

namespace memoir {
namespace {

constexpr const char* kHelp = R"(memoir: a memory profiler for PyTorch programs

usage: memoir run [OPTIONS] -- COMMAND...     record a command, then show the summary
       memoir CAPTURE                         the summary again (memoir show CAPTURE)
       memoir VERB --help                     a verb's options

verbs: run      record a command
       show     the peak and what was live at it, by operator, module, category ...; over time
       check    find problems: out of memory, fragmentation, GPU memory that nobody explains
       fit      whether a program fits on a GPU that you do not have, and up to which batch
       explain  the life of a parameter, an address or an operator's results, and what keeps it
       report   one HTML file with all of it, to open in a browser
       export   events, categories, data flow, timelines, as files for other programs
       symbolize  names for native frames (run --stacks native)
       doctor   what can be recorded on this machine, what not, why, and what to do

A capture is the folder that a recording writes.

exit codes: 0 success, 1 error, 2 wrong usage, 3 a finding (check, doctor). `memoir run` returns
            the code of its command. 141 (128 + SIGPIPE), or 1 where that signal is ignored, means
            that standard output was closed before the end.

Examples:
  memoir run -- python train.py       # records ./memoir-DATE-TIME and shows what used the memory
  memoir memoir-20260102-030405 --by range --top 5
)";

struct Verb {
  const char* name;
  int (*run)(const std::vector<std::string>&);
};
constexpr Verb kVerbs[] = {{"run", RunVerb},       {"show", ShowVerb},           {"check", CheckVerb},
                           {"fit", FitVerb},       {"explain", ExplainVerb},     {"report", ReportVerb},
                           {"export", ExportVerb}, {"symbolize", SymbolizeVerb}, {"doctor", DoctorVerb}};

int NotAVerb(const std::vector<std::string>& arguments) {
  std::vector<std::string> verbs;
  for (const Verb& verb : kVerbs) verbs.emplace_back(verb.name);
  const std::string& word = arguments.front();
  std::string advice = DidYouMean(word, verbs);
  if (advice.empty() && arguments.size() > 1) {
    std::string command;
    for (const std::string& argument : arguments) command += " " + argument;
    advice = "; to record a program: memoir run --" + command;
  }
  return FailUsage("", "'" + word + "' is no command of memoir and no capture" + advice);
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return FailUsage("", "nothing to do: memoir run -- COMMAND records, memoir CAPTURE shows");
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return WriteOutput(kHelp);
  if (first == "--version") return WriteOutput("memoir " MEMOIR_VERSION "\n");
  for (const Verb& verb : kVerbs) {
    if (first == verb.name) return verb.run({arguments.begin() + 1, arguments.end()});
  }
  std::error_code error;
  // A path is a capture, or was meant to be one: show says what is wrong with it.
  if (first.starts_with('-') || first.find('/') != std::string::npos || std::filesystem::exists(first, error)) {
    return ShowVerb(arguments);
  }
  return NotAVerb(arguments);
}

}  // namespace
}  // namespace memoir

int main(int argc, char** argv) {
  memoir::SilenceProtobuf();
  try {
    return memoir::Main({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    memoir::Say("out of memory");
  } catch (const std::exception& error) {
    memoir::Say(error.what());
  }
  return memoir::kExitError;
}
