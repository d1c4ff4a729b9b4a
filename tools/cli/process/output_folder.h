// The folder that `memoir run` records into: made and tried before the command starts, so that a typing mistake costs
// seconds and not a run.
#ifndef TOOLS_CLI_PROCESS_OUTPUT_FOLDER_H_
#define TOOLS_CLI_PROCESS_OUTPUT_FOLDER_H_

#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace memoir {

class OutputFolder {
 public:
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {}

  // Makes the folder and writes a file into it. The error says cause and fix.
  absl::Status Prepare();
  // Somebody has taken it away since.
  bool WasRemoved() const;
  // Part files that were not there when Prepare was called.
  bool HasNewParts() const;
  bool had_parts() const { return !old_parts_.empty(); }
  // Takes away the notes of processes that said why they were not recorded (python/memoir/_startup.py); true if there
  // was one. Those that left it to us to say are handed to `say`, each cause once.
  bool TakeNotes(const std::function<void(const std::string&)>& say) const;
  // Takes away folders that Prepare made, when nothing was written there.
  void RemoveIfEmpty() const;
  std::string path() const { return path_.string(); }

 private:
  std::set<std::string> Parts() const;

  std::filesystem::path path_;
  std::filesystem::path first_made_;  // outermost folder that Prepare made; empty: none
  std::set<std::string> old_parts_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_OUTPUT_FOLDER_H_
