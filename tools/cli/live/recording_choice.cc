#include "tools/cli/live/recording_choice.h"

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

// Returns the threads whose descriptor tables may contain the part that is being written: the files thread
// (interpose/system/own_files.h), and the process's first thread, which has the program's table.
std::vector<fs::path> ThreadsWithFiles(const fs::path& process) {
  std::vector<fs::path> threads = {process};
  std::error_code error;
  for (fs::directory_iterator it(process / "task", error), end; !error && it != end; it.increment(error)) {
    std::string name;
    std::ifstream comm(it->path() / "comm");
    std::getline(comm, name);
    if (name == "memoir-files") threads.push_back(it->path());
  }
  return threads;
}

std::optional<fs::path> FolderThatIsWrittenBy(const fs::path& thread) {
  std::error_code error;
  for (fs::directory_iterator it(thread / "fd", error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const fs::path target = fs::read_symlink(it->path(), ignored);
    if (ignored || target.extension() != ".memoir" || target.filename().string().find(".p") == std::string::npos)
      continue;
    std::ifstream facts(thread / "fdinfo" / it->path().filename());
    std::string word;
    unsigned flags = 0;
    while (facts >> word) {
      if (word == "flags:") facts >> std::oct >> flags;
    }
    if ((flags & 3u) != 0) return target.parent_path();  // open for writing
  }
  return std::nullopt;
}

// Returns the folder of the part that the process has open for writing. nullopt if it records nothing.
std::optional<fs::path> FolderThatIsWrittenBy(std::uint64_t pid) {
  for (const fs::path& thread : ThreadsWithFiles("/proc/" + std::to_string(pid)))
    if (auto folder = FolderThatIsWrittenBy(thread)) return folder;
  return std::nullopt;
}

struct Running {
  std::uint64_t pid = 0, parent = 0, start = 0;
};

std::vector<Running> Processes() {
  std::vector<Running> processes;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    Running process;
    if (!absl::SimpleAtoi(it->path().filename().string(), &process.pid)) continue;
    std::ifstream file(it->path() / "stat");
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    std::string field;
    fields >> field >> process.parent;
    for (int number = 5; number <= 22 && fields >> field; ++number) {
      if (number == 22) std::istringstream(field) >> process.start;
    }
    processes.push_back(process);
  }
  return processes;
}

// Returns the folder into which the process or one of its descendants records. `memoir run` and launchers record
// nothing themselves, but the processes that they started do.
std::optional<fs::path> FolderOfProcess(std::uint64_t pid, const std::vector<Running>& all) {
  std::vector<std::uint64_t> family = {pid};
  for (std::size_t i = 0; i < family.size(); ++i) {
    if (auto folder = FolderThatIsWrittenBy(family[i])) return folder;
    for (const Running& process : all) {
      const bool known = std::ranges::find(family, process.pid) != family.end();
      if (process.parent == family[i] && !known) family.push_back(process.pid);
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::string> FolderToFollow(const std::string& what) {
  std::error_code error;
  if (!what.empty() && fs::exists(what, error)) return what;
  std::vector<Running> processes = Processes();
  std::uint64_t pid = 0;
  if (absl::SimpleAtoi(what, &pid)) {
    if (std::ranges::find(processes, pid, &Running::pid) == processes.end())
      return absl::FailedPreconditionError("there is no process " + what +
                                           "; `memoir live` without it takes the newest recording");
    if (const auto folder = FolderOfProcess(pid, processes)) return folder->string();
    return absl::NotFoundError("process " + what +
                               " records nothing, or belongs to another user; give the folder of its capture");
  }
  if (!what.empty())
    return absl::NotFoundError(what +
                               ": no such file or folder; give the folder that `memoir run` writes, or the number "
                               "of a process that records");
  std::ranges::sort(processes, std::greater(), &Running::start);
  for (const Running& process : processes) {
    if (const auto folder = FolderThatIsWrittenBy(process.pid)) return folder->string();
  }
  return absl::NotFoundError(
      "no recording of yours runs on this host; start one with `memoir run -- COMMAND`, or give the folder of one: "
      "memoir "
      "live DIR");
}

}  // namespace memoir
