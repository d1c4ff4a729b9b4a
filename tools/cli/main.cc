// The program `memoir`. Runs the verb that the first argument names. `memoir CAPTURE` is short for `memoir show
// CAPTURE`.
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/read/protobuf_log.h"

namespace memoir {
namespace {

constexpr const char* kHelp = R"(memoir: a memory profiler for PyTorch programs

usage: memoir run [OPTIONS] -- COMMAND...   record a command
       memoir CAPTURE                       its tables (memoir show CAPTURE)
       memoir VERB --help                   a verb's options

Record a program
  run        record a command, then say how much, who, and what to ask next
               memoir run -o run1 -- python train.py
               memoir run -o run1 --simulate h100 -- python train.py

What happens right now?
  live       a recording while it is being written: memory, steps, what is at a
             step's peak, and when memory runs out
               memoir live run1
               memoir live --prometheus 9464 run1

Who holds the bytes?
  show       the peak and what was live at it, by operator, module, category,
             line or parameter; at any instant; over time
               memoir show run1 --by category,module
               memoir show run1 --at oom --by line
  explain    the life of a parameter, an address or an operator's results, and
             what keeps it alive
               memoir explain run1 layers.3.mlp.fc1.weight
  symbolize  names for the frames of C and C++ (run --stacks native)
               memoir symbolize run1

Is something wrong?
  check      out of memory, fragmentation, unexplained GPU memory, leaks
               memoir check run1
               memoir check --fail-if 'peak_allocated>8GiB' run1

What has changed?
  diff       two captures: what the second holds more or less at its peak, by
             line, module, operator or category, and the main cause first
               memoir diff before after
               memoir diff --by category,module before after

How do a thousand ranks differ?
  summarize  a small file next to each rank's recording, from which the overview
             of a job is made (memoir show run1, of more than 8 ranks)
               memoir summarize run1
  collect    a job's summaries from the disks of its hosts, and the recordings
             of the ranks that are out of line
               memoir collect -o run1 node0:/scratch/run1 node1:/scratch/run1
  query      questions in SQL about a job's tables, on DuckDB or on Spark
               memoir query
               memoir query odd_rank run1

What will it need?
  fit        whether a program fits on a GPU that you do not have, and up to
             which batch
               memoir fit --gpu l4,a100-40 -- python train.py
               memoir fit --gpu l4 --vary N=1:64 -- python train.py --batch {N}

See it elsewhere
  report     one HTML file with all of it, to open in a browser
               memoir report run1 -o run1.html
  export     files for other programs: Perfetto, pprof, SQLite, JSON, ...
               memoir export perfetto run1 -o run1.pftrace

  reveal     names in the place of the hashes of a redacted export
               memoir export redacted run1 -o redacted1
               memoir show redacted1 | memoir reveal

What works on this machine?
  doctor     what can be recorded here; the cause and remedy of each problem
               memoir doctor

A capture (run1) is the folder that a recording writes.

exit codes: 0 success, 1 error, 2 wrong usage, 3 a finding (check, doctor).
            `memoir run` ends as its command does, also by a signal.
            141 (128 + SIGPIPE), or 1 where that signal is ignored, means that
            standard output was closed before the end.
)";

struct Verb {
  const char* name;
  int (*run)(const std::vector<std::string>&);
};
constexpr Verb kVerbs[] = {{"run", RunVerb},
                           {"live", LiveVerb},
                           {"show", ShowVerb},
                           {"check", CheckVerb},
                           {"diff", DiffVerb},
                           {"fit", FitVerb},
                           {"explain", ExplainVerb},
                           {"query", QueryVerb},
                           {"report", ReportVerb},
                           {"export", ExportVerb},
                           {"reveal", RevealVerb},
                           {"symbolize", SymbolizeVerb},
                           {"summarize", SummarizeVerb},
                           {"collect", CollectVerb},
                           {"doctor", DoctorVerb}};

int NotAVerb(const std::vector<std::string>& arguments) {
  std::vector<std::string> verbs;
  for (const Verb& verb : kVerbs) verbs.emplace_back(verb.name);
  const std::string& word = arguments.front();
  std::string advice = DidYouMean(word, verbs);
  if (advice.empty() && arguments.size() > 1) {
    std::string command;
    for (const std::string& argument : arguments) command += " " + TypedWord(argument);
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
  // If the first word looks like an option or a path, all words are arguments of `show`, which prints an error if they
  // are invalid.
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
    memoir::NameProgramInCommands(argc > 0 ? argv[0] : "");
    return memoir::Main({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    memoir::PrintMessage("out of memory");
  } catch (const std::exception& error) {
    memoir::PrintMessage(error.what());
  }
  return memoir::kExitError;
}
