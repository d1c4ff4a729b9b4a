#include "tracker/host/host_number_sources.h"

#include <cstring>
#include <string>

#include "tracker/host/process_memory.h"
#include "tracker/host/system_text.h"

namespace memoir {

HostNumbers UnknownHostNumbers() {
  HostNumbers numbers;
  std::memset(&numbers, 0xff, sizeof numbers);  // kNotKnown
  return numbers;
}

void ReadSurroundings(const MemoryGroup& group, HostNumbers* numbers) {
  const GroupMemory memory = group.Read();
  if (group.is_known()) numbers->group_id = group.id();
  numbers->group_used_bytes = memory.used_bytes;
  numbers->group_limit_bytes = memory.limit_bytes;
  numbers->group_reclaimable_bytes = memory.reclaimable_bytes;
  numbers->group_shared_bytes = memory.shared_bytes;
  numbers->group_kills = memory.kills;
  const std::string machine = ReadSystemText("/proc/meminfo");
  numbers->machine_bytes = BytesAfter(machine, "MemTotal:");
  numbers->machine_available_bytes = BytesAfter(machine, "MemAvailable:");
  numbers->machine_kills = NumberAfter(ReadSystemText("/proc/vmstat"), "oom_kill ");
}

void ReadOwnMemory(HostNumbers* numbers) {
  const ProcessMemory own = ReadProcessMemory("/proc/self");
  numbers->anonymous_bytes = own.anonymous_bytes;
  numbers->shared_bytes = own.shared_bytes;
  numbers->file_bytes = own.file_bytes;
  numbers->swap_bytes = own.swap_bytes;
}

}  // namespace memoir
