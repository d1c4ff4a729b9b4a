#include "tools/read/capture_folder.h"

#include <dirent.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/read/merged_summaries.h"
#include "tools/read/protobuf_log.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".memoir";

absl::Status NotFound(const std::string& path, const std::string& why) {
  return absl::NotFoundError(absl::StrCat(path, ": ", why));
}

// Returns the parts of one name: for "run1/r00003.a0.host.123", the files "run1/r00003.a0.host.123.p*.memoir". Avoids
// std::filesystem for speed: an overview calls this for every rank without a summary, in folders of thousands of files.
std::vector<std::string> PartsNamed(const std::string& path) {
  const fs::path named(path);
  const std::string folder = named.has_parent_path() ? named.parent_path().string() : ".";
  const std::string start = named.filename().string() + ".p";
  std::vector<std::string> parts;
  DIR* const listed = opendir(folder.c_str());
  if (listed == nullptr) return parts;
  while (const dirent* const entry = readdir(listed)) {
    const std::string_view file = entry->d_name;
    if (file.starts_with(start) && file.ends_with(kSuffix)) parts.push_back(folder + "/" + std::string(file));
  }
  closedir(listed);
  std::sort(parts.begin(), parts.end());
  return parts;
}

absl::StatusOr<std::vector<std::string>> ListParts(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error && !fs::exists(status) && status.type() != fs::file_type::not_found) {
    const bool denied = error == std::errc::permission_denied;
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": cannot be opened (", error.message(), "); ",
                     denied ? "ask its owner for permission" : "check what the path leads to"));
  }
  if (!fs::exists(status)) {
    std::vector<std::string> parts = PartsNamed(path);
    if (!parts.empty()) return parts;
    return NotFound(path, "no such file or folder; a capture is the folder that `memoir run` wrote");
  }
  if (!fs::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> paths;
  bool any_file = false;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    any_file = true;
    if (it->path().extension() == kSuffix) paths.push_back(it->path().string());
  }
  if (error) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": cannot be listed (", error.message(), "); ask its owner for permission to read it"));
  }
  if (!any_file) return NotFound(path, "an empty folder, not a capture; record one with `memoir run -- COMMAND`");
  if (paths.empty())
    return NotFound(path,
                    "a folder without *.memoir files, not a capture; give the folder that `memoir run` wrote, or one "
                    "memory snapshot by its name");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The readable parts of a folder. A capture without a readable part is refused. If there are readable parts, an
// unreadable file is damage.
struct OpenedParts {
  std::vector<PartFile> parts;
  std::vector<Damage> damage;
  std::vector<std::string> unbegun;  // files in `damage` without a whole chunk
  absl::Status first_error;
};

// Identifies a recording. A process can make several recordings, one after another. Does not contain the rank, because
// a part may not contain it yet.
using RecordingKey = std::tuple<std::uint64_t, std::string, std::uint64_t>;
RecordingKey KeyOf(const PartFile& part) {
  const v1::ProcessInfo& info = part.process;
  return {info.start().realtime_ns(), info.host(), info.pid()};
}

// Returns the process information of the newest part.
const v1::ProcessInfo& NewestInfo(const ProcessFiles& process) { return process.parts.back().process; }

// The order of output: ranks, then processes without a rank.
bool ComesBefore(const ProcessFiles& a, const ProcessFiles& b) {
  const v1::ProcessInfo& left = NewestInfo(a);
  const v1::ProcessInfo& right = NewestInfo(b);
  return std::tuple(!HasRank(left), left.rank(), left.restart(), KeyOf(a.parts[0])) <
         std::tuple(!HasRank(right), right.rank(), right.restart(), KeyOf(b.parts[0]));
}

// Returns the message without the path, which a Damage contains already.
std::string Cause(const absl::Status& status, const std::string& path) {
  std::string text(status.message());
  return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text;
}

OpenedParts OpenParts(const std::vector<std::string>& paths) {
  OpenedParts opened;
  for (const std::string& path : paths) {
    absl::StatusOr<PartFile> part = OpenPart(path);
    if (part.ok()) {
      opened.parts.push_back(*std::move(part));
      continue;
    }
    opened.damage.push_back({path, 0, "left out: " + Cause(part.status(), path), true});
    if (absl::IsDataLoss(part.status())) opened.unbegun.push_back(path);
    opened.first_error.Update(part.status());
  }
  return opened;
}

// Refuses a recording as a whole if one of its parts has a newer format. Other recordings are not affected.
void RefuseNewer(OpenedParts* opened) {
  std::set<RecordingKey> refused;
  for (const PartFile& part : opened->parts) {
    if (!part.newer.empty()) refused.insert(KeyOf(part));
  }
  std::erase_if(opened->parts, [&](const PartFile& part) {
    if (!refused.contains(KeyOf(part))) return false;
    const std::string why = part.newer.empty() ? "other parts of its recording are from a newer Memoir" : part.newer;
    opened->damage.push_back({part.path, 0, "left out: " + why, true});
    if (!part.newer.empty()) opened->first_error = absl::UnimplementedError(absl::StrCat(part.path, ": ", part.newer));
    return true;
  });
}

std::vector<ProcessFiles> GroupByProcess(std::vector<PartFile> parts) {
  std::map<RecordingKey, ProcessFiles> processes;
  for (PartFile& part : parts) processes[KeyOf(part)].parts.push_back(std::move(part));
  std::vector<ProcessFiles> result;
  for (auto& [key, process] : processes) {
    // Sorts by sequence and not by file name: a file may be renamed, and old versions of memoir-drain used the lowest
    // free number. The longest of several copies comes first, because the others may be cut.
    std::stable_sort(process.parts.begin(), process.parts.end(), [](const PartFile& a, const PartFile& b) {
      const std::uint64_t first_of_a = a.chunks.front().sequence, first_of_b = b.chunks.front().sequence;
      if (first_of_a != first_of_b) return first_of_a < first_of_b;
      return a.chunks.size() > b.chunks.size();
    });
    result.push_back(std::move(process));
  }
  std::sort(result.begin(), result.end(), ComesBefore);
  return result;
}

// Returns true if `part` repeats chunks of `kept`, because a user copied or renamed a part. The repeated chunks would
// count twice.
bool IsCopyOf(const PartFile& part, const PartFile& kept) {
  return part.process.part() == kept.process.part() && part.chunks.front().sequence <= kept.chunks.back().sequence &&
         part.chunks.back().sequence >= kept.chunks.front().sequence;
}

void LeaveOutCopies(ProcessFiles* process, std::vector<Damage>* damage) {
  std::vector<PartFile> kept;
  for (PartFile& part : process->parts) {
    if (!kept.empty() && IsCopyOf(part, kept.back())) {
      const std::string of = fs::path(kept.back().path).filename().string();
      damage->push_back({part.path, 0, "left out: it repeats chunks of " + of + ", a copy; remove one of them", true});
      continue;
    }
    kept.push_back(std::move(part));
  }
  process->parts = std::move(kept);
}

struct PartName {
  std::string stem;
  std::uint64_t number = 0;
};
// Parses "<stem>.p0000.memoir".
std::optional<PartName> ParsePartName(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  const std::size_t at = stem.rfind(".p");
  PartName name;
  if (at == std::string::npos || !absl::SimpleAtoi(stem.substr(at + 2), &name.number)) return std::nullopt;
  name.stem = stem.substr(0, at);
  return name;
}

bool HasStem(const PartFile& part, const std::string& stem) {
  const std::optional<PartName> name = ParsePartName(part.path);
  return name && name->stem == stem;
}

// Returns true if no event is missing although the file at `path` has no complete chunk. This happens if the process
// was killed before it wrote a chunk, and memoir-drain wrote the events into the next part.
bool IsContinuedByDrain(const std::string& path, const std::vector<ProcessFiles>& processes) {
  const std::optional<PartName> name = ParsePartName(path);
  if (!name) return false;
  for (const ProcessFiles& process : processes) {
    for (std::size_t i = 0; i + 1 < process.parts.size(); ++i) {
      const PartFile& before = process.parts[i];
      const PartFile& behind = process.parts[i + 1];
      if (before.process.part() >= name->number || behind.process.part() <= name->number) continue;
      const bool goes_on = behind.chunks.front().sequence <= before.chunks.back().sequence + 1;
      if (goes_on && HasStem(before, name->stem) && HasStem(behind, name->stem)) return true;
    }
  }
  return false;
}

}  // namespace

bool HasRank(const v1::ProcessInfo& info) { return info.rank_source() != "none"; }

namespace {

absl::StatusOr<CaptureFolder> OpenConverted(const std::string& path) {
  absl::StatusOr<std::shared_ptr<const ConvertedFile>> converted = ConvertedFile::Convert(path);
  if (!converted.ok()) return converted.status();
  absl::StatusOr<CaptureFolder> folder = OpenFolder((*converted)->path());
  if (folder.ok()) folder->converted = *std::move(converted);
  return folder;
}

}  // namespace

absl::StatusOr<CaptureFolder> OpenFolder(const std::string& path) {
  SilenceProtobuf();
  std::error_code error;
  if (IsMergedSummaries(path) && fs::is_regular_file(path, error))
    return absl::InvalidArgumentError(
        path + ": summaries alone, no recordings; only memoir show --by job and memoir check ranks read it");
  if (IsForeignFile(path)) return OpenConverted(path);
  absl::StatusOr<std::vector<std::string>> paths = ListParts(path);
  if (!paths.ok()) return paths.status();
  OpenedParts opened = OpenParts(*paths);
  RefuseNewer(&opened);
  if (opened.parts.empty()) return opened.first_error;
  CaptureFolder folder;
  folder.damage = std::move(opened.damage);
  folder.processes = GroupByProcess(std::move(opened.parts));
  for (const std::string& unbegun : opened.unbegun) {
    if (!IsContinuedByDrain(unbegun, folder.processes)) continue;
    std::erase_if(folder.damage, [&](const Damage& damage) { return damage.file == unbegun; });
  }
  for (ProcessFiles& process : folder.processes) {
    LeaveOutCopies(&process, &folder.damage);
    for (const PartFile& part : process.parts) {
      std::ranges::copy(part.passed_over, std::back_inserter(folder.damage));
      if (part.damage) folder.damage.push_back(*part.damage);
    }
  }
  absl::StatusOr<Symbols> symbols = Symbols::Read(path);
  if (symbols.ok()) {
    folder.symbols = *std::move(symbols);
  } else {
    folder.damage.push_back({SymbolsPath(path), 0, std::string(symbols.status().message()), true});
  }
  return folder;
}

}  // namespace memoir
