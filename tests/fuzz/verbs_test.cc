// Runs every verb and view of the program on captures with wrong contents and valid checksums: no command crashes,
// hangs or fills memory. Every command also succeeds on an intact capture, which proves that it reads the capture. The
// tests build two captures; the others are in tests/format/released.
//
// Mutations run in child processes, many in each, so a failure names the mutation and the command that crashed.
// MEMOIR_TEST_LONG=1 runs forty times as many mutations, MEMOIR_TEST_MUTATIONS=100000 runs this number.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tests/fuzz/mutated_fields.h"
#include "tests/fuzz/whole_captures.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/fit/fit_recording.h"
#include "tools/analyze/report/report_analysis.h"
#include "tools/analyze/report/report_content.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/peak_owners.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/view/json/json.h"
#include "tools/view/report/report_facts.h"
#include "tools/view/report/report_sections.h"
#include "tools/view/summary/run_summary_text.h"

namespace memoir {
namespace {

using testing::MakeProcess;
using testing::Operators;
using testing::Parts;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMutations = 100;  // the sanitizer is slow, and reserves much address space
constexpr bool kLimitMemory = false;
#else
constexpr int kMutations = 500;
constexpr bool kLimitMemory = true;
#endif
constexpr int kLongFactor = 40;
constexpr int kPerChild = 50;
constexpr int kCommandsEach = 4;  // per mutation; the first command is the report
constexpr rlim_t kMaxAddressSpace = rlim_t{3} << 30;
constexpr unsigned kHangSeconds = 120;  // a command takes milliseconds
constexpr int kThrew = 99;

using Command = std::vector<std::string>;

const std::vector<Command>& Commands() {
  static const std::vector<Command> kCommands = [] {
    std::vector<Command> commands = {
        {"show", "--tree"},
        {"show", "--tree", "--grep", "a", "--thread", "1", "--from", "1us"},
        {"export", "tree"},
        {"export", "tree", "--format", "torch"},
        {"show", "--tree", "--top", "0", "--json"},
        {"show", "--over", "time"},
        {"show", "--over", "time", "--by", "category", "--json"},
        {"show", "--over", "operators"},
        {"show", "--over", "operators", "--json"},
        {"show", "--over", "time", "--svg", "/dev/null", "--png", "/dev/null"},
        {"show", "--range", "step", "--by", "category"},
        {"show", "--steps", "9:19", "--by", "module"},
        {"show", "--at", "peak", "--by", "segment"},
        {"show", "--at", "end", "--by", "segment", "--json"},
        {"show", "--by", "checkpoint"},
        {"show", "--by", "checkpoint", "--json"},
        {"show", "--rank", "0", "--device", "cuda:0"},
        {"check"},
        {"check", "oom", "--json"},
        {"check", "frag", "--json"},
        {"check", "balance"},
        {"check", "balance", "--at", "start", "--json"},
        {"check", "balance", "--at", "oom"},
        {"check", "leaks"},
        {"check", "host"},
        {"check", "ranks"},
        {"diff"},
        {"diff", "--by", "line", "--json"},
        {"diff", "--by", "category,module"},
        {"explain", "fc.weight"},
        {"explain", "--json", "--top", "0", "aten::add#3"},
        {"explain", "0x1040"},
        {"export", "events"},
        {"export", "events", "--range", "step"},
        {"export", "memory-tracker"},
        {"export", "memory-tracker", "--tracker", "t"},
        {"export", "categories"},
        {"export", "categories", "--rules", "torch"},
        {"export", "categories", "--rules", "torch", "--range", "step", "--forget-before"},
        {"export", "data-flow"},
        {"export", "memory-timeline"},
        {"export", "collapsed", "--by", "stack", "--all-frames"},
        {"export", "speedscope", "--by", "module"},
        {"export", "pprof"},
        {"export", "torch-snapshot"},
        {"export", "perfetto"},
        {"export", "chrome", "--range", "step"},
        {"export", "sqlite"},
        {"export", "arrow"},
        {"export", "parquet"},
        {"export", "redacted"},
        {"fit recording"},
        {"report"},
        {"run summary"},
    };
    for (const char* by : {"operator", "module", "category", "category,module", "line", "category,line", "parameter",
                           "leaf", "range", "region", "thread", "shape", "pool", "rank"}) {
      commands.push_back({"show", "--by", by});
      commands.push_back({"show", "--by", by, "--json"});
      for (const char* at : {"peak", "end", "oom", "mark:m", "100ns"})
        commands.push_back({"show", "--at", at, "--by", by});
    }
    return commands;
  }();
  return kCommands;
}

int ReportCommand() { return static_cast<int>(std::ranges::find(Commands(), Command{"report"}) - Commands().begin()); }

std::string ToString(const Command& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

int RunFit(const std::string& folder) {
  const auto capture = Capture::Open(folder);
  if (!capture.ok()) return kExitError;
  const auto recording = AnalyzeFitRecording(*capture, 100, 0, {});
  return recording.ok() && recording->has_value() ? kExitFine : kExitError;
}

// Computes the whole report except for its HTML page, which the tree of a test does not have.
int RunReport(const std::string& folder) {
  const auto capture = Capture::Open(folder);
  if (!capture.ok()) return kExitError;
  const auto report = AnalyzeReport(*capture, {});
  if (!report.ok()) return kExitError;
  const auto fragmentation = AnalyzeFragmentation(*capture, {});
  const auto balance = AnalyzeBalance(*capture, {}, {});
  if (!fragmentation.ok() || !balance.ok()) return kExitError;
  const auto findings = FindingsOf(*capture, *report, *fragmentation, *balance, folder, folder);
  const bool whole = !ToText(ReportFacts(*capture, *report, findings, folder, {})).empty() &&
                     !ToText(ReportTables(*capture, *report)).empty() &&
                     ReportSections(*report).size() >= report->devices.size();
  return whole ? kExitFine : kExitError;
}

// Renders the summary that `memoir run` prints at the end, without facts about the command that ran.
int RunSummary(const std::string& folder) {
  const auto capture = Capture::Open(folder);
  if (!capture.ok()) return kExitError;
  const auto owners = AnalyzePeakOwners(*capture, {});
  if (!owners.ok()) return kExitError;
  const std::string text = RenderRunSummary(*capture, *owners, {.capture = folder}, Terminal());
  return text.empty() ? kExitError : kExitFine;
}

// Returns the exit code of the program for `command`.
int RunCommand(const Command& command, const std::string& folder, const std::string& output) {
  if (command[0] == "fit recording") return RunFit(folder);
  if (command[0] == "report") return RunReport(folder);
  if (command[0] == "run summary") return RunSummary(folder);
  Command arguments(command.begin() + 1, command.end());
  if (command[0] == "explain") {
    arguments.insert(arguments.end() - 1, folder);
    return ExplainVerb(arguments);
  }
  arguments.push_back(folder);
  if (command[0] == "show") return ShowVerb(arguments);
  if (command[0] == "check") return CheckVerb(arguments);
  if (command[0] == "diff") {
    std::filesystem::copy(folder, output, std::filesystem::copy_options::recursive);
    arguments.push_back(output);
    return DiffVerb(arguments);
  }
  if (command[1] == "redacted") arguments.insert(arguments.end(), {"--key", output + ".key"});
  arguments.insert(arguments.end(), {"-o", output});
  return ExportVerb(arguments);
}

// Discards the output of the verbs during its lifetime.
class Silence {
 public:
  Silence() : out_(dup(STDOUT_FILENO)), error_(dup(STDERR_FILENO)) {
    Flush();
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
  }
  ~Silence() {
    Flush();
    dup2(out_, STDOUT_FILENO);
    dup2(error_, STDERR_FILENO);
    close(out_);
    close(error_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  static void Flush() { std::fflush(nullptr); }
  int out_, error_;
};

int RunSilently(const Command& command, const std::string& folder) {
  const Silence silence;
  const std::filesystem::path outputs = folder + ".outputs";
  std::filesystem::remove_all(outputs);
  std::filesystem::create_directory(outputs);
  const int code = RunCommand(command, folder, outputs / "output.json");
  std::filesystem::remove_all(outputs);
  return code;
}

// The mutation and command that a child process runs. The parent reads it when the child has ended.
struct Progress {
  int mutation = -1;
  int command = -1;
  int exit_code = 0;
};

class VerbsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    progress_ = new (shared) Progress;
  }
  void TearDown() override { munmap(progress_, sizeof(Progress)); }

  // Runs in the child. The child prints nothing and returns only `progress_`.
  void RunMutations(int first, int last) {
    if (kLimitMemory) {
      const struct rlimit limit = {kMaxAddressSpace, kMaxAddressSpace};
      setrlimit(RLIMIT_AS, &limit);
    }
    const TemporaryFolder folder;
    for (progress_->mutation = first; progress_->mutation < last; ++progress_->mutation) RunMutation(folder);
  }

  void RunMutation(const TemporaryFolder& folder) {
    const auto number = static_cast<std::size_t>(progress_->mutation);
    const Parts& parts = captures_[number % captures_.size()];
    std::mt19937_64 random(number);
    const auto mutated = static_cast<std::size_t>(random() % parts.size());
    const std::filesystem::path capture = folder / "capture";
    std::filesystem::remove_all(capture);
    std::filesystem::create_directory(capture);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [name, bytes] = parts[i];
      testing::WriteFile(capture / name, i == mutated ? testing::MutatePart(bytes, random) : bytes);
    }
    for (int i = 0; i < kCommandsEach; ++i) {
      const auto drawn = static_cast<int>(random() % Commands().size());
      progress_->command = i == 0 ? ReportCommand() : drawn;
      alarm(kHangSeconds);
      progress_->exit_code = RunCaught(Commands()[static_cast<std::size_t>(progress_->command)], capture);
      const int code = progress_->exit_code;
      if (code != kExitFine && code != kExitError && code != kExitFinding) _exit(1);
    }
  }

  static int RunCaught(const Command& command, const std::string& folder) {
    try {
      return RunSilently(command, folder);
    } catch (const std::exception&) {
      return kThrew;
    }
  }

  std::string Where() const {
    const std::string command =
        progress_->command < 0 ? "none" : ToString(Commands()[static_cast<std::size_t>(progress_->command)]);
    return "mutation " + std::to_string(progress_->mutation) + ", command: " + command + ", exit code " +
           std::to_string(progress_->exit_code);
  }

  ProcessBuilder above_ = MakeProcess(Operators::kAboveAutograd), below_ = MakeProcess(Operators::kBelow);
  const std::vector<Parts> captures_ = [this] {
    std::vector<Parts> all = testing::ReleasedCaptures();
    all.push_back(testing::PartsOf(above_));
    all.push_back(testing::PartsOf(below_));
    return all;
  }();
  Progress* progress_ = nullptr;
};

// One of the two recordings is enough: some commands need operators above autograd, others operators below.
TEST_F(VerbsTest, AnswerOnWholeCaptures) {
  const TemporaryFolder above, below;
  above_.WriteTo(above.path());
  below_.WriteTo(below.path());
  const auto answers = [](int code) { return code == kExitFine || code == kExitFinding; };
  for (const Command& command : Commands()) {
    EXPECT_TRUE(answers(RunSilently(command, above.path())) || answers(RunSilently(command, below.path())))
        << ToString(command);
  }
}

// Removes definitions, as if the chunks with them were lost: events refer to unknown ids, and the rest is intact.
TEST_F(VerbsTest, AnswerWithoutDefinitions) {
  using Payload = v1::Payload;
  const std::vector<std::pair<const char*, std::function<void(Payload*)>>> losses = {
      {"names", &Payload::clear_names},
      {"layouts", &Payload::clear_layouts},
      {"threads", &Payload::clear_threads},
      {"devices", &Payload::clear_devices},
      {"keyframes", &Payload::clear_keyframe},
      {"modules", [](Payload* payload) {
         auto& names = *payload->mutable_names();
         for (v1::NameDef& name : names) name.set_id(name.kind() == v1::NameDef::MODULE ? 0 : name.id());
       }}};
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < 2 * losses.size(); ++i) {
    const auto& [what, lose] = losses[i / 2];
    ProcessBuilder& process = i % 2 == 0 ? above_ : below_;
    for (std::uint32_t part = 0; part < 2; ++part)
      testing::WriteFile(folder / process.FileName(part), testing::ChangePayloads(process.parts()[part], lose));
    for (const Command& command : Commands()) {
      SCOPED_TRACE(std::string(what) + ": " + ToString(command));
      const int code = RunSilently(command, folder.path());
      EXPECT_TRUE(code == kExitFine || code == kExitFinding || code == kExitError) << code;
    }
  }
}

TEST_F(VerbsTest, SurviveNonsenseUnderRightChecksums) {
  const bool is_long = std::getenv("MEMOIR_TEST_LONG") != nullptr;
  const char* const asked = std::getenv("MEMOIR_TEST_MUTATIONS");
  const int mutations = asked != nullptr ? std::atoi(asked) : is_long ? kMutations * kLongFactor : kMutations;
  const char* const begin = std::getenv("MEMOIR_TEST_FIRST_MUTATION");  // for several processes that share the work
  for (int first = begin != nullptr ? std::atoi(begin) : 0; first < mutations; first += kPerChild) {
    std::fflush(nullptr);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RunMutations(first, std::min(first + kPerChild, mutations));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " at " << Where();
    EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0) << Where();
  }
}

}  // namespace
}  // namespace memoir
