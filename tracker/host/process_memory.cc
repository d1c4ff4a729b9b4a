#include "tracker/host/process_memory.h"

#include <dirent.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tracker/host/system_text.h"

namespace memoir {
namespace {

// Returns the pid and the parent's pid of each visible process, from /proc/PID/stat: "PID (NAME) STATE PARENT ...".
// NAME may contain any character.
std::vector<std::pair<std::uint64_t, std::uint64_t>> Parents(const std::string& proc) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parents;
  const auto close = [](DIR* folder) { closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(opendir(proc.c_str()), close);
  if (folder == nullptr) return parents;
  while (const dirent* entry = readdir(folder.get())) {
    const std::uint64_t pid = NumberOf(entry->d_name);
    if (pid == kNotKnown) continue;
    const std::string text = ReadSystemText(proc + "/" + entry->d_name + "/stat");
    const std::size_t name_end = text.rfind(") ");
    if (name_end == std::string::npos || name_end + 4 > text.size()) continue;
    const std::uint64_t parent = NumberOf(std::string_view(text).substr(name_end + 4));
    if (parent != kNotKnown) parents.emplace_back(pid, parent);
  }
  return parents;
}

}  // namespace

ProcessMemory ReadProcessMemory(const std::string& process) {
  const std::string status = ReadSystemText(process + "/status");
  return {BytesAfter(status, "RssAnon:"), BytesAfter(status, "RssShmem:"), BytesAfter(status, "RssFile:"),
          BytesAfter(status, "VmSwap:")};
}

std::uint64_t ReadProportionalBytes(const std::string& process) {
  return BytesAfter(ReadSystemText(process + "/smaps_rollup"), "Pss:");
}

ChildrenMemory ReadChildrenMemory(const std::string& proc, std::uint64_t pid) {
  std::multimap<std::uint64_t, std::uint64_t> children;
  for (const auto& [child, parent] : Parents(proc)) children.emplace(parent, child);
  ChildrenMemory memory;
  if (children.empty()) return memory;
  std::vector<std::uint64_t> descendants{pid};
  // The limit `children.size()` ends the loop if the parents form a cycle. That happens only if processes end and
  // others get their pids while the parents are read.
  for (std::size_t at = 0; at < descendants.size() && at <= children.size(); ++at) {
    const auto [begin, end] = children.equal_range(descendants[at]);
    for (auto child = begin; child != end; ++child) descendants.push_back(child->second);
  }
  memory.count = descendants.size() - 1;
  for (std::size_t at = 1; at < descendants.size(); ++at) {
    const std::uint64_t bytes = ReadProcessMemory(proc + "/" + std::to_string(descendants[at])).anonymous_bytes;
    if (bytes != kNotKnown)
      memory.anonymous_bytes = bytes + (memory.anonymous_bytes == kNotKnown ? 0 : memory.anonymous_bytes);
  }
  return memory;
}

}  // namespace memoir
