// The folder into which `memoir run` records. The folder is created and tested before the command starts, so that no
// recording is lost because of a wrong name.
#ifndef TOOLS_CLI_PROCESS_OUTPUT_FOLDER_H_
#define TOOLS_CLI_PROCESS_OUTPUT_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace memoir {

class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {}

  // Creates the folder and writes a file into it. The error names cause and fix.
  absl::Status Prepare();
  // Returns true if the folder was removed since Prepare() was called.
  bool WasRemoved() const;
  // Returns true if there are part files that did not exist when Prepare() was called.
  bool HasNewParts() const;
  bool had_parts() const { return !old_parts_.empty(); }
  // Removes the notes in which processes wrote why they were not recorded (python/_torch_memoir/_startup.py). Calls
  // `say` once for each cause that no process has printed. Returns true if there was a note.
  bool TakeNotes(const std::function<void(const std::string&)>& say) const;
  // A process that requests a simulated GPU that does not exist writes the number of GPUs that it needs into a note.
  // Removes the note, and returns the largest number in it. 0 if there is no note.
  std::uint32_t TakeMissingDevices() const;
  // Removes folders that Prepare() created, if nothing was written into them.
  void RemoveIfEmpty() const;
  std::string path() const { return path_.string(); }

 private:
  std::set<std::string> Parts() const;

  std::filesystem::path path_;
  std::filesystem::path first_made_;  // outermost folder that Prepare() created; empty: it created no folder
  std::set<std::string> old_parts_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_OUTPUT_FOLDER_H_
