#include "tracker/session/process/not_recording_message.h"

#include <unistd.h>

#include <cstdlib>

#include "interpose/system/own_files.h"
#include "interpose/system/private_file.h"
#include "tracker/session/process/rank.h"
#include "tracker/session/process/terminal_line.h"
#include "tracker/writer/file/folder_paths.h"

namespace memoir {
namespace {

// Returns the folder in which `memoir run` collects notes; "" without `memoir run`.
std::string FolderForNotes() {
  const char* folder = std::getenv("MEMOIR_NOTES");
  return folder != nullptr && IsFolder(folder) ? folder : "";
}

}  // namespace

void PrintNotRecording(const std::string& problem, bool child) {
  const std::string folder = FolderForNotes();
  const bool is_printed = IsReportingProcess() && (!child || folder.empty());
  if (is_printed) PrintLine("not recording: %s", problem.c_str());
  if (folder.empty()) return;
  const std::string note = folder + "/.not-recorded." + std::to_string(getpid()) + (is_printed ? "" : ".unsaid");
  const std::string line = problem + "\n";
  InOwnFiles([&] {
    const int file = OpenPrivateFile(note.c_str(), O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0) return;
    const WriteSignalBlocker held;
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
    close(file);
  });
}

}  // namespace memoir
