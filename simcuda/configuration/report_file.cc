#include "simcuda/configuration/report_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <string>

#include "simcuda/configuration/configuration.h"
#include "simcuda/process/mutex.h"
#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

struct ReportFile {
  char magic[8] = {'M', 'E', 'M', 'O', 'I', 'R', 'S', '1'};
  std::uint64_t pid = static_cast<std::uint64_t>(getpid());
  std::uint64_t words = sizeof(DeviceWords) / sizeof(std::uint64_t);
  std::uint64_t devices = kMostDevices;
  DeviceWords of_device[kMostDevices];
};
static_assert(sizeof(std::atomic<std::uint64_t>) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

// Process ids are reused, so the name also contains the time.
std::string NewName(const std::string& folder) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return folder + "/" + std::to_string(getpid()) + "-" + std::to_string(now.tv_sec) + std::to_string(now.tv_nsec) +
         ".gpu";
}

ReportFile* MakeFile(const std::string& folder) {
  const int file = open(NewName(folder).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void* where = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof(ReportFile)) == 0)
    where = mmap(nullptr, sizeof(ReportFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (where == MAP_FAILED)
    PrintMessage("cannot write into MEMOIR_SIM_REPORT=" + folder + " (" + std::strerror(errno) +
                 "); name a folder of yours");
  if (file >= 0) close(file);
  return where == MAP_FAILED ? nullptr : new (where) ReportFile();
}

struct Report {
  Mutex mutex;
  pid_t owner = 0;  // the process that began the report; if it is not this process, this is a forked child
  const std::string* folder = nullptr;
  bool has_begun = false;
  ReportFile* file = nullptr;
};

constinit Report report;

// Reads the variable once in a process, because the program may change its environment later.
const std::string& FolderLocked() {
  if (report.owner == getpid()) return *report.folder;
  const char* const folder = std::getenv("MEMOIR_SIM_REPORT");
  report.owner = getpid();
  report.folder = new std::string(folder == nullptr ? "" : folder);
  report.has_begun = false;
  report.file = nullptr;
  return *report.folder;
}

std::string Folder() {
  const std::lock_guard lock(report.mutex);
  return FolderLocked();
}

void AppendLine(const std::string& path, const std::string& line) {
  const int error = errno;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = write(file, text.data(), text.size());
  if (file >= 0) close(file);
  errno = error;
}

}  // namespace

DeviceWords* WordsOf(int ordinal) {
  const int error = errno;
  const std::lock_guard lock(report.mutex);
  const std::string& folder = FolderLocked();
  if (!report.has_begun && !folder.empty()) report.file = MakeFile(folder);
  report.has_begun = true;
  errno = error;
  return report.file == nullptr ? nullptr : &report.file->of_device[ordinal];
}

// Prints nothing if the folder cannot be written, because the start of the device has printed the cause already.
void NoteUnknown(const std::string& line) {
  const std::string folder = Folder();
  if (!folder.empty()) AppendLine(folder + "/unknown", line);
}

// Notes how many devices the job needs. Each process that a launcher starts on this machine needs a device;
// LOCAL_WORLD_SIZE is the number of these processes. `asked` + 1 may be smaller, because the first process to fail
// does not always request the device with the highest number.
void NoteMissingDevice(int asked) {
  const char* const folder = std::getenv("MEMOIR_NOTES");
  const char* const processes = std::getenv("LOCAL_WORLD_SIZE");
  if (folder == nullptr || *folder == '\0') return;
  const long together = processes == nullptr ? 0 : std::strtol(processes, nullptr, 10);
  AppendLine(std::string(folder) + "/.missing-devices", std::to_string(std::max<long>(asked + 1, together)));
}

}  // namespace memoir::simcuda
