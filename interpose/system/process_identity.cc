#include "interpose/system/process_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpose/system/private_file.h"

namespace memoir {
namespace {

// Reads the beginning of a file into a text that ends with NUL. "" on failure.
void ReadBeginning(const char* path, char* text, std::size_t text_bytes) {
  text[0] = '\0';
  const int fd = OpenPrivateFile(path, O_RDONLY);
  if (fd < 0) return;
  const ssize_t size = read(fd, text, text_bytes - 1);
  text[size > 0 ? size : 0] = '\0';
  close(fd);
}

// Some fields of /proc/<pid>/stat.
struct Stat {
  char state;
  unsigned long threads;
  std::uint64_t start_time;
};

// Reads /proc/<pid>/stat. The process name in parentheses may contain any character, so fields are counted after the
// last ')'.
bool ReadStat(std::uint64_t pid, Stat* stat) {
  char path[64];
  char text[1024];
  std::snprintf(path, sizeof path, "/proc/%llu/stat", static_cast<unsigned long long>(pid));
  ReadBeginning(path, text, sizeof text);
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return false;
  stat->state = at[2];
  at += 1;
  for (int field = 3; field <= 22; ++field) {
    if (*at != ' ') return false;
    ++at;
    if (field == 20) stat->threads = std::strtoul(at, nullptr, 10);
    if (field == 22) stat->start_time = std::strtoull(at, nullptr, 10);
    at += std::strcspn(at, " ");
  }
  return true;
}

std::uint64_t PidNamespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

void ReadBootId(char* boot_id, std::size_t bytes) {
  ReadBeginning("/proc/sys/kernel/random/boot_id", boot_id, bytes);
  boot_id[std::strcspn(boot_id, "\n")] = '\0';
}

}  // namespace

ProcessIdentity OwnIdentity() { return IdentityOf(static_cast<std::uint64_t>(getpid())); }

ProcessIdentity IdentityOf(std::uint64_t pid) {
  ProcessIdentity identity{};
  identity.pid = pid;
  Stat stat{};
  if (ReadStat(identity.pid, &stat)) identity.start_time = stat.start_time;
  identity.pid_namespace = PidNamespace();
  ReadBootId(identity.boot_id, sizeof identity.boot_id);
  return identity;
}

bool IsRunning(const ProcessIdentity& identity) {
  char boot_id[sizeof identity.boot_id];
  ReadBootId(boot_id, sizeof boot_id);
  if (std::strcmp(boot_id, identity.boot_id) != 0) return false;
  if (PidNamespace() != identity.pid_namespace) return false;
  Stat stat{};
  if (!ReadStat(identity.pid, &stat) || stat.start_time != identity.start_time) return false;
  // A zombie is a dead process whose parent has not waited for it. If only the main thread of a process has ended, the
  // process has the same state, but more than one thread.
  const bool zombie = (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
  return !zombie;
}

}  // namespace memoir
