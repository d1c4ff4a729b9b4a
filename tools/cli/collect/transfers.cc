#include "tools/cli/collect/transfers.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "tools/cli/attach/environment.h"
#include "tools/cli/process/process_batch.h"
#include "tools/cli/terminal/progress_line.h"
#include "tools/read/summary_file.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

// The temporary folders that receive files, one for each source. The destructor removes the folders and everything that
// is still in them.
class Staging {
 public:
  explicit Staging(const std::string& job) : path_(job + "/.collect-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Staging() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  bool is_made() const { return !path_.empty(); }
  fs::path FolderOf(std::size_t source) const { return fs::path(path_) / std::to_string(source); }
  std::string Beside(std::size_t source, const char* what) const { return FolderOf(source).string() + "." + what; }

 private:
  std::string path_;
};

bool IsWanted(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0; });
}

// Returns true if the file was collected before. A recording's file only grows, so two versions with the same size are
// equal. Summaries are rewritten, so they are always collected again.
bool IsThere(const fs::path& file, const fs::path& collected) {
  std::error_code error, other;
  const auto size = fs::file_size(file, error);
  return collected.extension() == ".memoir" && fs::file_size(collected, other) == size && !error && !other;
}

// Copies the wanted files of a folder. Continues after a file that cannot be copied. Returns the first error, or "".
std::string CopyWanted(const FileRequest& wanted, const fs::path& into, const fs::path& job) {
  std::error_code error;
  std::string why;
  for (fs::directory_iterator at(wanted.source->folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code unknown;
    if (!IsWanted(name, wanted.patterns) || at->symlink_status(unknown).type() != fs::file_type::regular) continue;
    if (IsThere(at->path(), job / name)) continue;
    std::error_code failed;
    if (fs::copy_file(at->path(), into / name, failed)) {
      fs::last_write_time(into / name, at->last_write_time(unknown), unknown);  // the age of a summary
      continue;
    }
    fs::remove(into / name, unknown);
    if (why.empty() && failed != std::errc::no_such_file_or_directory) why = name + ": " + failed.message();
  }
  return error ? error.message() : why;
}

// Returns the first line of a command's errors, because the causes from ssh and tar come before rsync's conclusions.
std::string FirstLine(const std::string& file) {
  constexpr std::size_t kMostRead = 4096, kMost = 200;
  std::string text(kMostRead, '\0');
  std::ifstream output(file);
  output.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(output.gcount()));
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (line.find_first_not_of(" \t\r") != std::string::npos && !line.starts_with("Warning:"))
      return line.substr(0, std::min(line.find('\r'), kMost));
  }
  return "";
}

// Returns true if the received file should replace the existing one. A recording only grows. A summary that cannot be
// read never replaces a readable summary.
bool IsBetter(const fs::path& came, const fs::path& there) {
  std::error_code absent, error;
  const auto size = fs::file_size(there, absent);
  if (absent) return true;
  if (came.extension() == ".memoir") return fs::file_size(came, error) >= size && !error;
  return ReadSummaryFile(came.string()).ok() || !ReadSummaryFile(there.string()).ok();
}

// Moves the wanted files into the job's folder. Continues after a file that cannot be moved. Returns the first error.
std::string TakeIn(const FileRequest& wanted, const fs::path& from, const fs::path& job, TransferResult& brought) {
  std::error_code error;
  std::string why;
  if (fs::symlink_status(from, error).type() != fs::file_type::directory) return "its folder for files was replaced";
  for (fs::directory_iterator at(from, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code failed;
    if (at->symlink_status(failed).type() != fs::file_type::regular || !IsWanted(name, wanted.patterns)) continue;
    const std::uint64_t bytes = at->file_size(failed);
    if (name.ends_with(kSummarySuffix) && bytes > kMostSummaryBytes) {
      why = why.empty() ? name + ": larger than any summary" : why;
      continue;
    }
    if (!IsBetter(at->path(), job / name)) {
      why = why.empty() ? name + ": shorter than what was collected before, or damaged, and not taken" : why;
      continue;
    }
    if (!failed) fs::permissions(at->path(), fs::perms::owner_read | fs::perms::owner_write, failed);
    if (!failed) fs::rename(at->path(), job / name, failed);
    if (failed) {
      why = why.empty() ? (job / name).string() + ": " + failed.message() : why;
      continue;
    }
    brought.files.push_back(name);
    brought.bytes += bytes;
  }
  return error ? error.message() : why;
}

constexpr char kProgram[] =
    "import sys; sys.path.insert(0, sys.argv[1]); from _torch_memoir import _fetch; "
    "sys.exit(_fetch.main(sys.argv[2:]))";

bool IsCopiedHere(const CollectSource& source, const CollectOptions& options) {
  return source.kind == CollectSourceKind::kFolder && !options.for_all;
}

absl::StatusOr<BatchCommand> CommandOf(const InstallTree& tree, const FileRequest& wanted,
                                       const CollectOptions& options, const Transfer& transfer,
                                       const std::string& output) {
  BatchCommand command{.command = {}, .environment = CurrentEnvironment(), .output = output};
  if (wanted.source->kind == CollectSourceKind::kAddress && !options.for_all) {
    command.command = {options.python,      "-c",          kProgram,     tree.python.string(),
                       wanted.source->text, transfer.into, transfer.job, transfer.patterns};
    return command;
  }
  const absl::StatusOr<std::string> line = FillCommand(options.command, *wanted.source, transfer);
  if (!line.ok()) return line.status();
  command.command = {"/bin/sh", "-c", *line};
  return command;
}

std::string WhyOf(const ChildResult& result, const std::string& output) {
  if (result.start_error == E2BIG) return "its command is too long: use {patterns} in the place of {names}";
  if (result.start_error != 0)
    return std::string("its command cannot be started: ") + std::strerror(result.start_error);
  const std::string said = FirstLine(output);
  const bool lacks_rsync = result.exit_code == 127 && said.find("rsync") != std::string::npos;
  return fmt::format("its command ended with {}{}{}", result.exit_code, said.empty() ? "" : ": " + said,
                     lacks_rsync ? "; install rsync, or name another command with --with" : "");
}

// Writes the patterns into the file `transfer.patterns`. Returns false if the disk is full.
bool WritePatterns(const Transfer& transfer) {
  std::ofstream patterns(transfer.patterns);
  for (const std::string& name : transfer.names) patterns << name << '\n';
  patterns.close();
  return patterns.good();
}

void Fail(const FileRequest& wanted, const std::string& why, const CollectOptions& options, TransferResult& brought) {
  brought.failed = true;
  options.say(wanted.source->text + ": " + why);
}

}  // namespace

absl::StatusOr<TransferResults> TransferFiles(const InstallTree& tree, const std::vector<FileRequest>& wanted,
                                              const CollectOptions& options, const std::string& what) {
  const Staging staging(options.job);
  if (!staging.is_made())
    return absl::PermissionDeniedError(options.job + ": cannot be written to; choose another folder (--output)");
  TransferResults brought;
  brought.of.resize(wanted.size());
  std::vector<BatchCommand> commands;
  std::vector<std::size_t> commanded;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::error_code error;
    fs::create_directory(staging.FolderOf(i), error);
    if (error) return absl::ResourceExhaustedError(options.job + ": " + error.message());
    if (IsCopiedHere(*wanted[i].source, options)) {
      const std::string why = CopyWanted(wanted[i], staging.FolderOf(i), options.job);
      if (!why.empty()) Fail(wanted[i], why, options, brought.of[i]);
      continue;
    }
    const std::string into = staging.FolderOf(i).string();
    const Transfer transfer = {staging.Beside(i, "patterns"), wanted[i].patterns, into,
                               wanted[i].anew ? into : options.job};
    if (!WritePatterns(transfer))
      return absl::ResourceExhaustedError(options.job + ": cannot be written to; is its disk full?");
    absl::StatusOr<BatchCommand> command = CommandOf(tree, wanted[i], options, transfer, staging.Beside(i, "output"));
    if (!command.ok()) return command.status();
    commands.push_back(*std::move(command));
    commanded.push_back(i);
  }
  BatchResult batch;
  {
    ProgressLine progress(what);
    batch = RunBatch(commands, options.at_once, [&](std::size_t ended, std::size_t) {
      progress.Show(static_cast<double>(ended) / static_cast<double>(std::max<std::size_t>(commands.size(), 1)));
    });
  }
  brought.interrupted = batch.interrupted;
  std::vector<bool> was_ended(wanted.size(), false);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const ChildResult& result = batch.results[i];
    if (result.start_error == 0 && result.exit_code == 0) continue;
    was_ended[commanded[i]] = batch.interrupted != 0;
    if (batch.interrupted == 0)
      Fail(wanted[commanded[i]], WhyOf(result, commands[i].output), options, brought.of[commanded[i]]);
  }
  // Also moves the files that arrived from failed sources, if they are new, or longer than the files in the job's
  // folder.
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (was_ended[i]) continue;
    const std::string why = TakeIn(wanted[i], staging.FolderOf(i), options.job, brought.of[i]);
    if (!why.empty()) Fail(wanted[i], why, options, brought.of[i]);
  }
  return brought;
}

}  // namespace memoir
