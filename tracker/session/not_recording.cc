#include "tracker/session/not_recording.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tracker/session/rank.h"

namespace memoir {
namespace {

// Where `memoir run` takes notes, "" without it.
std::string FolderForNotes() {
  const char* folder = std::getenv("MEMOIR_NOTES");
  std::error_code error;
  return folder != nullptr && std::filesystem::is_directory(folder, error) ? folder : "";
}

}  // namespace

void SayNotRecording(const std::string& problem, bool child) {
  const std::string folder = FolderForNotes();
  const bool said = SpeaksForJob() && (!child || folder.empty());
  if (said) std::fprintf(stderr, "memoir: not recording: %s\n", problem.c_str());
  if (folder.empty()) return;
  std::ofstream(folder + "/.not-recorded." + std::to_string(getpid()) + (said ? "" : ".unsaid")) << problem << "\n";
}

}  // namespace memoir
