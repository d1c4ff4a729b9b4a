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

constexpr const char* kHelp = R"(memoir: who holds the memory of a PyTorch program

usage: memoir run [OPTIONS] -- COMMAND...     record a command, then show the summary
       memoir CAPTURE                         the summary again (memoir show CAPTURE)
       memoir VERB --help                     a verb's options

verbs: run      record a command
       show     what a capture holds: the peak, who holds it, who allocates, over time; --json
       check    what went wrong: oom, frag, and the balance of what a GPU has; all without a name
       fit      does a program fit on a card that is not here, up to which batch: SIMULATED
       explain  the life of a parameter, an address or an operator's results, and who keeps it
       export   events, categories, data flow, timelines, in other forms
       doctor   what will be recorded here, what not, why, and the fix

exit codes: 0 fine, 1 error, 2 usage, 3 a finding (check, doctor); 141 (128 + SIGPIPE), or 1 where
            that signal is ignored: standard output was closed before the end; `memoir run`
            returns its command's code

Examples:
  memoir run -- python train.py       # records ./memoir-DATE-TIME and shows who held the peak
  memoir memoir-20260102-030405 --by range --top 5
)";

struct Verb {
  const char* name;
  int (*run)(const std::vector<std::string>&);
};
constexpr Verb kVerbs[] = {{"run", RunVerb},         {"show", ShowVerb},     {"check", CheckVerb},  {"fit", FitVerb},
                           {"explain", ExplainVerb}, {"export", ExportVerb}, {"doctor", DoctorVerb}};

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
  if (first.starts_with("-") || first.find('/') != std::string::npos || std::filesystem::exists(first, error)) {
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
