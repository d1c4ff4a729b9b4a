#include "tools/view/host/host_view.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string_view Words(HostPart part) {
  switch (part) {
    case HostPart::kTensors:
      return "torch's tensors on the CPU";
    case HostPart::kPinned:
      return "torch's pinned memory";
    case HostPart::kMalloc:
      return "malloc, for others than torch's tensors";
    case HostPart::kMallocFree:
      return "malloc, freed and kept for later";
    case HostPart::kOther:
      return "Python's objects, large arrays, stacks";
    case HostPart::kShared:
      return "shared memory (/dev/shm)";
    case HostPart::kFiles:
      return "files in memory, libraries among them";
    case HostPart::kUntouched:
      break;
  }
  return "of these never written to, or in swap";
}

// Returns the remedy if this part grows or is the largest part.
std::string Advice(HostPart part, const std::string& path) {
  switch (part) {
    case HostPart::kTensors:
    case HostPart::kPinned:
      return "The lines: " +
             PrintedCommand(std::string("show --device ") + (part == HostPart::kPinned ? "pinned" : "cpu") +
                            " --at end --by line " + path) +
             "; what every step keeps: " + PrintedCommand("check leaks " + path);
    case HostPart::kMallocFree:
      return "malloc keeps freed memory: MALLOC_ARENA_MAX=2 or MALLOC_TRIM_THRESHOLD_=65536 in the environment, or "
             "jemalloc, return more of it to the system";
    case HostPart::kShared:
      return "Data loaders share batches there: fewer workers, a smaller prefetch_factor, or batches that are kept";
    case HostPart::kFiles:
      return "These are mapped files: the system takes their pages back where memory is short";
    default:
      return "It is not torch's: tracemalloc or memray name the lines of Python that took it";
  }
}

std::string LimitName(const HostInstant& instant) {
  return instant.numbers.group_limit_bytes ? "the cgroup's limit" : "the machine's memory";
}

std::string RoomLeft(const HostInstant& instant) {
  const std::optional<std::uint64_t> left = instant.headroom(), limit = instant.limit();
  if (!left || !limit) return "";
  return fmt::format("{} left of {} ({})", FormatBytes(*left), FormatBytes(*limit), LimitName(instant));
}

std::string FindingText(const ProcessHostMemory& host, HostFinding finding, std::uint64_t end_ns,
                        const std::string& path) {
  switch (finding) {
    case HostFinding::kKilled:
    case HostFinding::kKilledByMachine: {
      const std::string killer =
          finding == HostFinding::kKilled
              ? "KILLED by the out-of-memory killer of its cgroup"
              : "likely KILLED by an out-of-memory killer of the machine, which has killed something";
      const std::string room = RoomLeft(host.last);
      return fmt::format("{}, {} after the last reading{}; torch's tensors on the CPU had {} then", killer,
                         FormatDuration(end_ns - std::min(end_ns, host.last.ns)), room.empty() ? "" : ": " + room,
                         FormatBytes(host.tensors_at_end));
    }
    case HostFinding::kNearLimit:
      return fmt::format("near its limit: {} at {}", RoomLeft(host.nearest), FormatMoment(host.nearest.ns));
    case HostFinding::kGrows: {
      const HostGrowth& growth = *host.growth;
      std::string text = fmt::format("grows: {} in {}", FormatSignedBytes(growth.bytes),
                                     FormatDuration(growth.until_ns - growth.since_ns));
      if (growth.steps)
        text += fmt::format(" and {}, {} each step", FormatCounted(*growth.steps, "step", "steps"),
                            FormatSignedBytes(growth.bytes / static_cast<std::int64_t>(*growth.steps)));
      text += fmt::format(", most of it {} ({})", Words(growth.part), FormatSignedBytes(growth.part_bytes));
      if (growth.left_ns && host.findings.front() > HostFinding::kKilledByMachine)
        text += fmt::format("; if it goes on so, memory runs out {} after the end", FormatDuration(*growth.left_ns));
      return text + ". " + Advice(growth.part, path);
    }
    case HostFinding::kMallocKeeps:
      break;
  }
  return fmt::format("malloc has {} that the program has given back to it. {}",
                     FormatBytes(host.last.numbers.malloc_free_bytes.value_or(0)), Advice(HostPart::kMallocFree, path));
}

std::string RenderInstant(const HostInstant& instant, const Terminal& terminal) {
  TextTable table({"what has it", "bytes", "share"});
  std::vector<HostPart> parts;
  for (std::size_t i = 0; i < kHostParts; ++i) {
    if (instant.bytes[i] != 0) parts.push_back(static_cast<HostPart>(i));
  }
  std::ranges::stable_sort(parts, [&](HostPart a, HostPart b) { return instant[a] > instant[b]; });
  for (const HostPart part : parts) {
    const std::int64_t bytes = instant[part];
    table.AddRow({std::string(Words(part)),
                  bytes < 0 ? FormatSignedBytes(bytes) : FormatBytes(static_cast<std::uint64_t>(bytes)),
                  bytes < 0 ? "" : FormatShare(static_cast<std::uint64_t>(bytes), instant.resident())});
  }
  table.AddTotal({"resident", FormatBytes(instant.resident()), ""});
  return table.Render(terminal, 2);
}

// Describes memory around the process: its child processes, swap, and its cgroup.
std::string Surroundings(const HostInstant& instant) {
  std::vector<std::string> said;
  const HostNumbers& numbers = instant.numbers;
  if (numbers.children.value_or(0) > 0)
    said.push_back(fmt::format("{} have {} of their own",
                               FormatCounted(*numbers.children, "child process", "child processes"),
                               FormatBytes(numbers.children_bytes.value_or(0))));
  if (numbers.swap_bytes.value_or(0) > 0) said.push_back(FormatBytes(*numbers.swap_bytes) + " are in swap");
  if (numbers.group_used_bytes)
    said.push_back(
        fmt::format("the cgroup has {}, {} of it pages of files that the system can take back and {} shared memory",
                    FormatBytes(*numbers.group_used_bytes), FormatBytes(numbers.group_reclaimable_bytes.value_or(0)),
                    FormatBytes(numbers.group_shared_bytes.value_or(0))));
  std::string text;
  for (const std::string& one : said) text += (text.empty() ? "" : "; ") + one;
  return text;
}

std::uint64_t EndOf(const Capture& capture, const HostMemoryUse& memory, const ProcessHostMemory& host) {
  return capture.processes()[host.process.value].start_ns + memory.report.processes[host.process.value].duration_ns;
}

// Describes the worst finding. Without findings, describes the highest resident memory.
std::string Headline(const Capture& capture, const HostMemoryUse& memory, const ProcessHostMemory& host) {
  if (host.findings.empty()) return fmt::format("at most {} resident", FormatBytes(host.highest.resident()));
  return FindingText(host, host.findings.front(), EndOf(capture, memory, host), "CAPTURE");
}

Json InstantJson(const HostInstant& instant) {
  const auto known = [](const std::optional<std::uint64_t>& number) { return number ? Json(*number) : Json(nullptr); };
  const HostNumbers& numbers = instant.numbers;
  Json json = {{"time_ns", instant.ns},
               {"step", known(instant.step)},
               {"resident_bytes", instant.resident()},
               {"anonymous_bytes", known(numbers.anonymous_bytes)},
               {"proportional_bytes", known(numbers.proportional_bytes)},
               {"swap_bytes", known(numbers.swap_bytes)},
               {"children", known(numbers.children)},
               {"children_bytes", known(numbers.children_bytes)},
               {"cgroup_used_bytes", known(numbers.group_used_bytes)},
               {"cgroup_limit_bytes", known(numbers.group_limit_bytes)},
               {"cgroup_reclaimable_bytes", known(numbers.group_reclaimable_bytes)},
               {"cgroup_shared_bytes", known(numbers.group_shared_bytes)},
               {"cgroup_kills", known(numbers.group_kills)},
               {"machine_bytes", known(numbers.machine_bytes)},
               {"machine_available_bytes", known(numbers.machine_available_bytes)},
               {"headroom_bytes", known(instant.headroom())}};
  json["parts"] = Json::array();
  for (std::size_t i = 0; i < kHostParts; ++i)
    json["parts"].push_back({{"part", ToString(static_cast<HostPart>(i))}, {"bytes", instant.bytes[i]}});
  return json;
}

}  // namespace

std::string HostLine(const HostMemoryUse& memory) {
  const auto highest = std::ranges::max_element(memory.processes, {},
                                                [](const ProcessHostMemory& host) { return host.highest.resident(); });
  if (highest == memory.processes.end()) return "the host's memory was not read";
  const std::string room = RoomLeft(highest->nearest);
  return fmt::format("at most {} resident{}", FormatBytes(highest->highest.resident()),
                     room.empty() ? "" : "; at least " + room);
}

std::string RenderHost(const Capture& capture, const HostMemoryUse& memory, std::size_t top, const std::string& path,
                       const Terminal& terminal) {
  if (memory.processes.empty())
    return Wrapped("The host's memory was not read: it was recorded by an earlier Memoir, or by another program.",
                   terminal.width, 0) +
           "\n";
  std::string text;
  std::size_t shown = 0, left_out = 0;
  const bool alone = memory.processes.size() == 1;
  for (const ProcessHostMemory& host : memory.processes) {
    if (!alone && host.findings.empty()) continue;
    if (top != 0 && shown == top) {
      ++left_out;
      continue;
    }
    ++shown;
    const std::string heading =
        fmt::format("{} on its host: at most {} resident, at {}{}", ProcessLabel(capture, host.process),
                    FormatBytes(host.highest.resident()), FormatMoment(host.highest.ns),
                    host.highest.step ? fmt::format(", step {}", *host.highest.step) : "");
    text += "\n" + Wrapped(heading, terminal.width, 2) + "\n";
    for (const HostFinding finding : host.findings)
      text += Wrapped("! " + FindingText(host, finding, EndOf(capture, memory, host), path), terminal.width, 2) + "\n";
    text += RenderInstant(host.highest, terminal);
    if (const std::string around = Surroundings(host.highest); !around.empty())
      text += "  " + Wrapped(around, terminal.width, 2) + "\n";
  }
  if (left_out > 0)
    text += fmt::format("and {} more (--top 0: all)\n", FormatCounted(left_out, "process", "processes"));
  return text.empty() ? HostLine(memory) + "\n" : text;
}

std::string KilledLine(const Capture& capture, const HostMemoryUse& memory, const std::string& path) {
  for (const ProcessHostMemory& host : memory.processes) {
    if (host.findings.empty() || host.findings.front() > HostFinding::kKilledByMachine) continue;
    return (capture.processes().size() > 1 ? ProcessLabel(capture, host.process) + " " : "") +
           FindingText(host, host.findings.front(), EndOf(capture, memory, host), path) +
           ". For the rest: " + PrintedCommand("check host " + path);
  }
  return "";
}

Json HostJson(const Capture& capture, const HostMemoryUse& memory) {
  Json json = {{"version", 1}, {"capture", capture.path()}, {"view", "check_host"}};
  json["host_memory"] = Json::array();
  for (const ProcessHostMemory& host : memory.processes) {
    Json one = {{"process", host.process.value},
                {"rank", host.rank ? Json(*host.rank) : Json(nullptr)},
                {"readings", host.readings},
                {"tensors_at_end_bytes", host.tensors_at_end},
                {"findings", Json::array()},
                {"headline", Headline(capture, memory, host)},
                {"first", InstantJson(host.first)},
                {"highest", InstantJson(host.highest)},
                {"nearest_limit", InstantJson(host.nearest)},
                {"last", InstantJson(host.last)},
                {"growth", nullptr}};
    for (const HostFinding finding : host.findings) one["findings"].push_back(ToString(finding));
    if (host.growth) {
      const HostGrowth& growth = *host.growth;
      one["growth"] = {{"bytes", growth.bytes},
                       {"part", ToString(growth.part)},
                       {"part_bytes", growth.part_bytes},
                       {"since_ns", growth.since_ns},
                       {"until_ns", growth.until_ns},
                       {"steps", growth.steps ? Json(*growth.steps) : Json(nullptr)},
                       {"left_ns", growth.left_ns ? Json(*growth.left_ns) : Json(nullptr)}};
    }
    json["host_memory"].push_back(std::move(one));
  }
  json["found"] = memory.has_findings();
  return json;
}

}  // namespace memoir
