#include "tracker/session/not_recording.h"

#include <unistd.h>

#include <cstdlib>

#include "interpose/private_file.h"
#include "tracker/session/rank.h"
#include "tracker/session/terminal_line.h"
#include "tracker/writer/paths.h"

namespace memoir {
namespace {

// Where `memoir run` takes notes, "" without it.
std::string FolderForNotes() {
  const char* folder = std::getenv("MEMOIR_NOTES");
  return folder != nullptr && IsFolder(folder) ? folder : "";
}

}  // namespace

void SayNotRecording(const std::string& problem, bool child) {
  const std::string folder = FolderForNotes();
  const bool said = SpeaksForJob() && (!child || folder.empty());
  if (said) SayLine("not recording: %s", problem.c_str());
  if (folder.empty()) return;
  const std::string note = folder + "/.not-recorded." + std::to_string(getpid()) + (said ? "" : ".unsaid");
  const int file = OpenPrivateFile(note.c_str(), O_WRONLY | O_CREAT | O_EXCL);
  if (file < 0) return;
  const std::string line = problem + "\n";
  const WriteSignalsHeld held;
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

}  // namespace memoir
