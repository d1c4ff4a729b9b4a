// Runs a program and counts the instructions of the regions that it marks (region.h): count_instructions [--functions]
// PROGRAM [ARGUMENT...]. Steps through them with ptrace, so that what runs is what would run without it, on the same
// processor, and only the regions are slow. Of threads it steps the first alone; the others run on.
//
// Writes a line for each region and object: region, object (file name of the library, or "program"), instructions.
// With --functions a line for each address in place of each object, for addr2line.
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/instructions/region.h"

namespace memoir::test {
namespace {

struct Mapping {
  std::uint64_t begin, end, offset;
  std::string path;
};

std::vector<Mapping> MappingsOf(pid_t child) {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/" + std::to_string(child) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping{};
    char dash = 0;
    std::string access, device, inode;
    std::istringstream fields(line);
    fields >> std::hex >> mapping.begin >> dash >> mapping.end >> access >> mapping.offset >> device >> inode;
    if (!fields || access.find('x') == std::string::npos) continue;
    fields >> mapping.path;
    mappings.push_back(mapping);
  }
  return mappings;
}

std::uint64_t ProgramCounter(pid_t child) {
#ifdef __x86_64__
  return static_cast<std::uint64_t>(ptrace(PTRACE_PEEKUSER, child, offsetof(user, regs.rip), nullptr));
#else
  user_regs_struct registers{};
  iovec vector{&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, child, 1 /* NT_PRSTATUS */, &vector);
  return registers.pc;
#endif
}

std::string TextAt(pid_t child, const void* address) {
  char text[128] = "";
  const iovec here{text, sizeof text - 1};
  const iovec there{const_cast<void*>(address), sizeof text - 1};
  if (process_vm_readv(child, &here, 1, &there, 1, 0) < 0) return "?";
  return text;
}

// The signal of the marks that stopped the child, or 0.
int MarkAt(pid_t child, int status, siginfo_t* info) {
  const int signal = WSTOPSIG(status);
  if (signal != kRegionBegins && signal != kRegionEnds) return 0;
  return ptrace(PTRACE_GETSIGINFO, child, nullptr, info) == 0 && info->si_code == SI_QUEUE ? signal : 0;
}

using Counts = std::unordered_map<std::uint64_t, std::uint64_t>;  // by address

// Steps to the mark of the region's end; false: the child has ended.
bool Step(pid_t child, Counts* counts) {
  for (;;) {
    ++(*counts)[ProgramCounter(child)];
    int status;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, __WALL) != child)
      return false;
    if (!WIFSTOPPED(status)) return false;
    siginfo_t info;
    if (MarkAt(child, status, &info) == kRegionEnds) return true;
  }
}

void Print(const std::string& region, pid_t child, const Counts& counts, bool functions) {
  const std::vector<Mapping> mappings = MappingsOf(child);
  std::map<std::string, std::uint64_t> sums;
  for (const auto& [address, count] : counts) {
    const auto in = std::find_if(mappings.begin(), mappings.end(),
                                 [at = address](const Mapping& m) { return m.begin <= at && at < m.end; });
    const std::string path = in == mappings.end() ? "?" : in->path;
    std::ostringstream key;
    if (functions && in != mappings.end()) {
      key << path << '\t' << std::hex << address - in->begin + in->offset;
    } else {
      key << path.substr(path.rfind('/') + 1);
    }
    sums[key.str()] += count;
  }
  for (const auto& [object, count] : sums)
    std::printf("%s\t%s\t%lu\n", region.c_str(), object.c_str(), static_cast<unsigned long>(count));
  std::fflush(stdout);
}

int Follow(pid_t child, bool functions) {
  int deliver = 0;
  for (;;) {
    int status;
    if (ptrace(PTRACE_CONT, child, nullptr, deliver) != 0 && errno != ESRCH) return std::perror("ptrace"), 1;
    if (waitpid(child, &status, __WALL) != child) return std::perror("waitpid"), 1;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    siginfo_t info;
    deliver = MarkAt(child, status, &info) == kRegionBegins ? 0 : WSTOPSIG(status);
    if (deliver == SIGTRAP) deliver = 0;  // of the exec
    if (deliver != 0 || WSTOPSIG(status) != kRegionBegins) continue;
    const std::string region = TextAt(child, info.si_value.sival_ptr);
    Counts counts;
    if (!Step(child, &counts)) return std::fprintf(stderr, "%s has not ended\n", region.c_str()), 1;
    Print(region, child, counts, functions);
  }
}

int Main(int count, char** arguments) {
  const bool functions = count > 1 && std::strcmp(arguments[1], "--functions") == 0;
  char** program = arguments + (functions ? 2 : 1);
  if (*program == nullptr) return std::fputs("count_instructions: a program is missing\n", stderr), 2;
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    execvp(program[0], program);
    _exit(127);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) return std::perror("fork"), 1;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return Follow(child, functions);
}

}  // namespace
}  // namespace memoir::test

int main(int count, char** arguments) { return memoir::test::Main(count, arguments); }
