#include "tools/cli/redact/export_redacted.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/output/new_folder.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/model/capture.h"
#include "tools/read/capture_folder.h"
#include "tools/redact/hashed_paths.h"
#include "tools/redact/key_file.h"
#include "tools/redact/name_hashes.h"
#include "tools/redact/redacted_capture.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

std::string KeyPath(const RedactedExport& asked) { return asked.key.empty() ? UsualKeyPath() : asked.key; }

bool LiesIn(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path inside = fs::weakly_canonical(fs::absolute(file), error);
  const fs::path around = fs::weakly_canonical(fs::absolute(folder), error);
  const auto [end, ignored] = std::ranges::mismatch(around, inside);
  return end == around.end();
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.Write(bytes);
  return file.Finish();
}

// The folder of one redacted capture. The destructor removes its files unless Keep() was called.
class RedactedFolder {
 public:
  RedactedFolder(std::string path, NameHashes& hashes) : folder_(std::move(path)), hashes_(hashes) {}

  absl::Status Write(const std::string& capture) {
    const absl::StatusOr<CaptureFolder> original = OpenFolder(capture);
    if (!original.ok()) return original.status();
    if (absl::Status made = folder_.Prepare(); !made.ok()) return made;
    for (const Damage& damage : original->damage)
      PrintMessage("left out, or copied with its damage: " + ToString(damage));
    for (const ProcessFiles& process : original->processes) {
      for (const PartFile& part : process.parts) {
        if (absl::Status written = WritePart(part); !written.ok()) return written;
      }
    }
    const absl::StatusOr<std::string> symbols = RedactedSymbols(capture, hashes_);
    if (!symbols.ok() || symbols->empty() || original->converted != nullptr) return absl::OkStatus();
    return WriteFile(folder_.File("symbols.memoir-symbols"), *symbols);
  }
  void Keep() { folder_.Keep(); }

 private:
  absl::Status WritePart(const PartFile& part) {
    const std::string wanted = RedactedFileName(part, hashes_);
    std::string name = wanted;
    for (int i = 2; !names_.insert(name).second; ++i)  // a user may have copied a part within the folder
      name = absl::StrCat(wanted.substr(0, wanted.rfind(".p")), "-", i, wanted.substr(wanted.rfind(".p")));
    OutputFile file(folder_.File(name));
    WriteRedactedPart(part, hashes_, [&](std::string_view bytes) { file.Write(bytes); });
    return file.Finish();
  }

  NewFolder folder_;
  NameHashes& hashes_;
  std::set<std::string> names_;
};

// Returns the folders of snapshots in a recording's folder. The name of such a folder is a number, or a name that the
// program chose.
std::vector<fs::path> SnapshotsOf(const std::string& capture) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(fs::path(capture) / "snapshots", error), end; !error && it != end; it.increment(error))
    if (it->is_directory(error)) found.push_back(it->path());
  std::ranges::sort(found);
  return found;
}

// The folders for the redacted snapshots. The destructor removes them unless Keep() was called.
class SnapshotsFolder {
 public:
  explicit SnapshotsFolder(std::string path) : path_(std::move(path)) {}
  ~SnapshotsFolder() {
    folders_.clear();
    std::error_code ignored;
    if (!kept_) fs::remove(path_, ignored);
  }
  SnapshotsFolder(const SnapshotsFolder&) = delete;
  SnapshotsFolder& operator=(const SnapshotsFolder&) = delete;

  absl::Status Write(const std::vector<fs::path>& snapshots, NameHashes& hashes) {
    std::error_code error;
    if (!snapshots.empty() && !fs::create_directory(path_, error))
      return absl::UnavailableError(absl::StrCat("cannot write into ", path_, ": ", error.message()));
    for (const fs::path& snapshot : snapshots) {
      const std::string name = snapshot.filename().string();
      const bool numbered = name.find_first_not_of("0123456789") == std::string::npos && name.size() <= 6;
      const std::string to = absl::StrCat(path_, "/", numbered ? name : HashedFileOf(name, hashes).path);
      folders_.push_back(std::make_unique<RedactedFolder>(to, hashes));
      const absl::Status written = folders_.back()->Write(snapshot.string());
      if (!written.ok()) return written;
    }
    return absl::OkStatus();
  }
  void Keep() {
    kept_ = true;
    for (const auto& folder : folders_) folder->Keep();
  }

 private:
  const std::string path_;
  std::vector<std::unique_ptr<RedactedFolder>> folders_;
  bool kept_ = false;
};

}  // namespace

std::string ComplaintAbout(const RedactedExport& asked) {
  if (asked.output.empty() || asked.output == "-") return "a redacted capture is a folder: add -o FOLDER";
  const std::string key = KeyPath(asked);
  if (key.empty()) return "there is no home folder for the key: add --key FILE";
  if (LiesIn(key, asked.output)) return "--key " + key + " lies in " + asked.output + ", and would travel with it";
  if (LiesIn(asked.output, asked.capture)) return "-o " + asked.output + " lies in the capture itself";
  return "";
}

absl::Status ExportRedacted(const RedactedExport& asked) {
  // Opens the capture only to merge the rings of dead processes, so that their events are in the parts.
  const auto whole = OpenMerged(asked.capture, [](const std::string& line) { PrintMessage(line); }, kAllRuns);
  if (!whole.ok()) return whole.status();
  const std::string key_path = KeyPath(asked);
  std::error_code ignored;
  const bool is_new = !fs::exists(key_path, ignored);
  const absl::StatusOr<std::string> key = ReadOrMakeKey(key_path);
  if (!key.ok()) return key.status();
  if (is_new) PrintMessage("made a key, " + key_path + ": keep it, and give it only to those who may know the names");
  NameHashes hashes(*key);
  RedactedFolder recording(asked.output, hashes);
  if (absl::Status written = recording.Write(asked.capture); !written.ok()) return written;
  SnapshotsFolder snapshots(asked.output + "/snapshots");
  if (absl::Status written = snapshots.Write(SnapshotsOf(asked.capture), hashes); !written.ok()) return written;
  const auto names = hashes.names();
  if (absl::Status kept = KeepNames(key_path, names); !kept.ok()) return kept;
  snapshots.Keep();
  recording.Keep();
  PrintMessage(absl::StrCat(asked.output, ": ", names.size(), names.size() == 1 ? " name is" : " names are",
                            " hashed; ", key_path, ".names has them, and memoir reveal looks them up"));
  return absl::OkStatus();
}

}  // namespace memoir
