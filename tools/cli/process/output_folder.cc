#include "tools/cli/process/output_folder.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "tools/cli/process/private_folder.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

absl::Status Unusable(const fs::path& path, const std::string& cause) {
  return absl::FailedPreconditionError("cannot record into " + path.string() + ": " + cause +
                                       "; choose a folder with -o DIR");
}

std::string FirstLine(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

fs::path FirstMissing(const fs::path& path) {
  std::error_code error;
  fs::path missing;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error) && !error; at = at.parent_path()) {
    missing = at;
    if (at == at.parent_path()) break;
  }
  return missing;
}

}  // namespace

absl::Status OutputFolder::Prepare() {
  std::error_code error;
  const fs::path missing = FirstMissing(path_);
  error = MakePrivateFolders(path_);
  if (error) return Unusable(path_, error.message());
  if (!fs::is_directory(path_, error)) return Unusable(path_, "it is not a folder");
  first_made_ = missing;
  error = TryToWrite(path_);
  if (error) {
    RemoveIfEmpty();
    return Unusable(path_, error.message());
  }
  old_parts_ = Parts();
  return absl::OkStatus();
}

std::set<std::string> OutputFolder::Parts() const {
  std::set<std::string> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().extension() == ".memoir") parts.insert(entry.path().filename().string());
  }
  return parts;
}

bool OutputFolder::WasRemoved() const {
  std::error_code error;
  return !fs::exists(path_, error) && !error;
}

bool OutputFolder::HasNewParts() const {
  return std::ranges::any_of(Parts(), [this](const std::string& part) { return !old_parts_.contains(part); });
}

bool OutputFolder::TakeNotes(const std::function<void(const std::string&)>& say) const {
  std::vector<fs::path> notes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().filename().string().starts_with(".not-recorded.")) notes.push_back(entry.path());
  }
  std::set<std::string> said, unsaid;
  for (const fs::path& note : notes) {
    (note.extension() == ".unsaid" ? unsaid : said).insert(FirstLine(note));
    fs::remove(note, error);
  }
  for (const std::string& cause : unsaid) {
    if (!said.contains(cause)) say(Escaped(cause));
  }
  return !notes.empty();
}

std::uint32_t OutputFolder::TakeMissingDevices() const {
  const fs::path note = path_ / ".missing-devices";
  std::uint32_t most = 0;
  std::ifstream lines(note);
  for (std::uint32_t wanted = 0; lines >> wanted;) most = std::max(most, wanted);
  std::error_code error;
  fs::remove(note, error);
  return most;
}

void OutputFolder::RemoveIfEmpty() const {
  if (first_made_.empty()) return;
  std::error_code error;
  for (fs::path at = path_; fs::remove(at, error) && at != first_made_; at = at.parent_path()) {
  }
}

}  // namespace memoir
