// Every verb and view of the program on captures that say nonsense under right checksums: none crashes, hangs or fills
// memory. Whole captures answer every question, so that the questions are known to be asked.
//
// The mutations run in child processes, many to one: a crash is then a failure that names the mutation and the command.
// MEMOIR_TEST_LONG=1: forty times as many.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tests/fuzz/mutated_fields.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/fit/fit_recording.h"
#include "tools/analyze/report/report.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/peak_holders.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/view/json/json.h"
#include "tools/view/report/report_facts.h"
#include "tools/view/report/report_sections.h"
#include "tools/view/summary/run_summary_text.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;
using testing::TensorSpec;

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMutations = 100;  // the sanitizer is slow, and needs address space of its own
constexpr bool kLimitMemory = false;
#else
constexpr int kMutations = 500;
constexpr bool kLimitMemory = true;
#endif
constexpr int kLongFactor = 40;
constexpr int kPerChild = 50;
constexpr int kCommandsEach = 4;  // of a mutation
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
        {"fit recording"},
        {"report"},
        {"run summary"},
    };
    for (const char* by : {"operator", "module", "category", "category,module", "parameter", "leaf", "range", "thread",
                           "shape", "rank"}) {
      commands.push_back({"show", "--by", by});
      commands.push_back({"show", "--by", by, "--json"});
      for (const char* at : {"peak", "end", "oom", "mark:m", "100ns"})
        commands.push_back({"show", "--at", at, "--by", by});
    }
    return commands;
  }();
  return kCommands;
}

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

// All but the page, which no tree of a test has.
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

// What `memoir run` ends with, without what it had run.
int RunSummary(const std::string& folder) {
  const auto capture = Capture::Open(folder);
  if (!capture.ok()) return kExitError;
  const auto holders = AnalyzePeakHolders(*capture, {});
  if (!holders.ok()) return kExitError;
  const std::string text = RenderRunSummary(*capture, *holders, {.program = "memoir", .capture = folder}, Terminal());
  return text.empty() ? kExitError : kExitFine;
}

// What the program would exit with.
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
  arguments.insert(arguments.end(), {"-o", output});
  return ExportVerb(arguments);
}

enum class Operators : std::uint8_t { kAboveAutograd, kBelow };

// A bit of everything: a training loop with modules, what they hold, autograd, a GPU and its driver, and the operators
// below autograd. Those recordings are paused once, too.
ProcessBuilder MakeProcess(Operators operators) {
  testing::ProcessOptions options;
  const bool below = operators == Operators::kBelow;
  options.sources = {"ranges", "cpu-allocator", "cuda-allocator", "modules", "driver"};
  if (below) options.sources.push_back("dispatch");
  ProcessBuilder process(options);
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  const TensorSpec weight{7, 0x9000, 512, {2, 64}}, own{8, 0x1000, 64, {16}};
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.TakeSegment(cuda, 0x100000, 1 << 20).Mark("memoir.MemoryTracker#t begins");
  for (std::uint64_t part = 0; part < 2; ++part) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t block = 0x100000 + 0x400 * i;
      const auto line = static_cast<std::uint32_t>(i);
      process.OnThread(1 + i % 2).Stack({{"train.py", "main", line}, {"net.py", "Net.forward", line % 3}});
      process.OnThread(1 + i % 2).BeginUser("step").EnterModule("", "Net").EnterModule("fc", "Linear");
      process.Begin("aten::add", {weight, own, own}).Allocate(0x1000 + 64 * i, 100 + i);
      if (below) process.BeginDispatch("aten::add.Tensor");
      process.AllocateBlock(cuda, block, 0x400, 0x3f0);
      if (below) process.End({own});
      process.End({own});
      process.BeginForward("aten::mm", static_cast<std::int64_t>(i)).End({own});
      process.ExitModule("fc", "Linear").ExitModule("", "Net");
      process.ModuleHolds("fc", {{own, weight}, {none, own}, {weight}}, {"weight", "bias", "mean"});
      process.HoldsMore({{own}, {none}, {}}, {"more"});
      process.BeginBackward("AddBackward0", static_cast<std::int64_t>(i), 1).Begin("aten::mul", {own, own}).End({own});
      process.End().GradientOf(own, weight);
      process.BeginUser("Optimizer.step#SGD.step").End();
      process.OptimizerHolds(1, {{own, weight}, {weight, none}, {own, own}, {}}).End();
      process.Deallocate(0x1000 + 64 * i);
      if (i % 3 != 0) process.FreeBlock(cuda, block);
      process.GiveDriverBlock(cuda, 0x900000 + i, 64 * i, v1::MALLOC, i % 2 == 0 ? "libnccl.so.2" : "libforeign.so");
      if (i == 7) process.RefuseDriver(cuda, i, v1::HANDLE, "libcublas.so.12", 3, i).RunOutOfMemory(cuda, i, i, part);
      if (i % 7 == 0) process.ReadDevice(cuda, v1::PEAK, {.free = 1000 - i, .total = 1000});
      if (below && i == 15 && part == 1)
        process.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_MEMORY).SwitchTo(v1::LEVEL_ALL);
      if (i % 10 == 9) process.Mark("m").Step(i).EndChunk(i % 20 == 9);
    }
    for (std::uint64_t i = 0; i < 20; i += 3) process.FreeBlock(cuda, 0x100000 + 0x400 * i);
    if (part == 0) process.EndPart();
  }
  process.Mark("memoir.MemoryTracker#t ends");
  process.Finish();
  return process;
}

// Nothing that the verbs print while it lives.
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
  return RunCommand(command, folder, folder + "/out.json");
}

// What a child is at, for whoever reads how it ended.
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

  // In the child: nothing is printed, and nothing comes back but the progress.
  void RunMutations(int first, int last) {
    if (kLimitMemory) {
      const struct rlimit limit = {kMaxAddressSpace, kMaxAddressSpace};
      setrlimit(RLIMIT_AS, &limit);
    }
    const TemporaryFolder folder;
    for (progress_->mutation = first; progress_->mutation < last; ++progress_->mutation) RunMutation(folder);
  }

  void RunMutation(const TemporaryFolder& folder) {
    const int number = progress_->mutation;
    ProcessBuilder& process = number % 2 == 0 ? above_ : below_;
    std::mt19937_64 random(static_cast<std::uint64_t>(number));
    const auto part = static_cast<std::uint32_t>(random() % 2);
    testing::WriteFile(folder / process.FileName(part), testing::MutatePart(process.parts()[part], random));
    testing::WriteFile(folder / process.FileName(1 - part), process.parts()[1 - part]);
    for (int i = 0; i < kCommandsEach; ++i) {
      progress_->command = (number * kCommandsEach + i) % static_cast<int>(Commands().size());
      alarm(kHangSeconds);
      progress_->exit_code = RunCaught(Commands()[static_cast<std::size_t>(progress_->command)], folder.path());
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
  Progress* progress_ = nullptr;
};

// By one of the two recordings: some questions are about operators of one kind.
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

// As if the chunks that define them were lost: what events refer to is then not known, and nothing else is wrong.
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
  const int mutations = is_long ? kMutations * kLongFactor : kMutations;
  for (int first = 0; first < mutations; first += kPerChild) {
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
