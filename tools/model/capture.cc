#include "tools/model/capture.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/model/capture_contents.h"
#include "tools/model/parts/folder_runs.h"
#include "tools/model/parts/pending_ring.h"
#include "tools/read/process_info_rules.h"

namespace memoir {
namespace {

// Returns the number that the first part of the recording has if no part is missing. A program that replaced itself
// (exec) keeps its process id, and its new recording continues the part numbers of its earlier recording.
std::uint64_t FirstPartNumber(const ProcessFiles& files, const CaptureFolder& folder) {
  const v1::ProcessInfo& own = files.parts[0].process;
  std::uint64_t first = 0;
  for (const ProcessFiles& other : folder.processes) {
    const v1::ProcessInfo& info = other.parts[0].process;
    const bool before = info.start().realtime_ns() < own.start().realtime_ns();
    if (!before || info.pid() != own.pid() || info.host() != own.host()) continue;
    first = std::max<std::uint64_t>(first, other.parts.back().process.part() + std::uint64_t{1});
  }
  return first;
}

// Counts the missing parts. A gap in the part numbers counts only if chunk numbers are also missing there, because a
// writer skips the number of a file that already exists.
std::uint64_t CountMissingParts(const ProcessFiles& files, std::uint64_t first_number) {
  std::uint64_t missing = 0;
  std::uint64_t expected_part = first_number;
  std::uint64_t expected_chunk = 0;
  for (const PartFile& part : files.parts) {
    const std::uint64_t number = part.process.part();
    if (part.chunks.front().sequence > expected_chunk && number > expected_part) missing += number - expected_part;
    expected_part = std::max(expected_part, number + 1);
    expected_chunk = std::max(expected_chunk, part.chunks.back().sequence + 1);
  }
  return missing;
}

ProcessSummary Summarise(const ProcessFiles& files, const CaptureFolder& folder, std::uint64_t earliest_ns) {
  ProcessSummary summary;
  summary.info = files.parts[0].process;
  const v1::ProcessInfo& newest = files.parts.back().process;
  UpdateProcessInfo(newest, &summary.info);
  summary.info.set_rank_conflict(ToUtf8(newest.rank_conflict()));
  summary.pending_ring = FindPendingRing(summary.info);
  summary.info.set_program(ToUtf8(summary.info.program()));
  summary.parts = files.parts.size();
  summary.missing_parts = CountMissingParts(files, FirstPartNumber(files, folder));
  summary.starts_at_first_chunk = files.parts[0].chunks[0].sequence == 0;
  summary.start_ns = summary.info.start().realtime_ns() - earliest_ns;
  summary.first_tick = std::numeric_limits<Tick>::max();
  for (const PartFile& part : files.parts) {
    summary.file_bytes += part.file_bytes;
    for (const ChunkHeader& chunk : part.chunks) {
      if (chunk.event_count == 0) continue;
      summary.events += chunk.event_count;
      summary.first_tick = std::min(summary.first_tick, chunk.first_tick);
      summary.last_tick = std::max(summary.last_tick, chunk.last_tick);
    }
  }
  if (summary.first_tick > summary.last_tick) summary.first_tick = summary.last_tick = summary.info.start().tick();
  return summary;
}

// Removes the damage of each part whose cut last chunk was recovered. If a process is killed, the last chunk of its
// part may be cut. memoir-drain then copies the records of this chunk from the ring to the next part. The chunk is
// recovered if no chunk number is missing between the two parts.
void ForgetRecoveredCuts(const CaptureFolder& folder, std::vector<Damage>* damage) {
  for (const ProcessFiles& process : folder.processes) {
    for (std::size_t i = 0; i + 1 < process.parts.size(); ++i) {
      const PartFile& part = process.parts[i];
      const std::uint64_t next = process.parts[i + 1].chunks[0].sequence;
      if (!part.damage || next > part.chunks.back().sequence + 1) continue;
      damage->erase(std::remove(damage->begin(), damage->end(), *part.damage), damage->end());
    }
  }
}

// If any process has a rank, the processes without one are not ranks. If no process has a rank, each counts as rank 0.
void MarkRanks(std::vector<ProcessSummary>* processes) {
  const bool any = std::any_of(processes->begin(), processes->end(), [](const auto& p) { return HasRank(p.info); });
  for (ProcessSummary& process : *processes) process.is_rank = !any || HasRank(process.info);
}

}  // namespace

// Lists the runs of the folder. If `run` selects one of them, removes the processes of all other runs.
absl::Status Capture::ChooseRun(std::uint32_t run, Contents& contents) {
  const std::vector<FolderRun> runs = FindRuns(contents.folder);
  for (const FolderRun& files : runs) contents.runs.push_back({files.start_ns, files.processes.size()});
  if (run == kAllRuns) return absl::OkStatus();
  contents.run = run == kLastRun ? static_cast<std::uint32_t>(runs.size()) : run;
  if (contents.run > runs.size()) {
    return absl::NotFoundError(absl::StrCat(contents.path, ": no run ", run, ", it holds ", runs.size(),
                                            runs.size() == 1 ? " run" : " runs", "; leave out --run for the last"));
  }
  std::vector<ProcessFiles> processes;
  const std::vector<std::size_t>& wanted = runs[contents.run - 1].processes;
  for (std::size_t i = 0; i < contents.folder.processes.size(); ++i) {
    ProcessFiles& process = contents.folder.processes[i];
    if (std::ranges::binary_search(wanted, i)) {
      processes.push_back(std::move(process));
    } else {
      ForgetDamageOf(process, &contents.folder.damage);
    }
  }
  contents.folder.processes = std::move(processes);
  return absl::OkStatus();
}

Capture::Capture(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

absl::StatusOr<Capture> Capture::Open(const std::string& path, std::uint32_t run) {
  absl::StatusOr<CaptureFolder> folder = OpenFolder(path);
  if (!folder.ok()) return folder.status();
  auto contents = std::make_unique<Contents>();
  contents->path = path;
  contents->folder = *std::move(folder);
  if (absl::Status chosen = ChooseRun(run, *contents); !chosen.ok()) return chosen;
  std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
  for (const ProcessFiles& files : contents->folder.processes) {
    earliest = std::min<std::uint64_t>(earliest, files.parts[0].process.start().realtime_ns());
  }
  for (const ProcessFiles& files : contents->folder.processes) {
    ProcessSummary summary = Summarise(files, contents->folder, earliest);
    summary.id = ProcessId{static_cast<std::uint32_t>(contents->processes.size())};
    contents->processes.push_back(std::move(summary));
  }
  MarkRanks(&contents->processes);
  ForgetRecoveredCuts(contents->folder, &contents->folder.damage);
  return Capture(std::move(contents));
}

const std::string& Capture::path() const { return contents_->path; }
const std::vector<ProcessSummary>& Capture::processes() const { return contents_->processes; }
const std::vector<RecordedRun>& Capture::runs() const { return contents_->runs; }
std::uint32_t Capture::run() const { return contents_->run; }
const std::vector<Damage>& Capture::damage() const { return contents_->folder.damage; }

std::uint64_t Capture::events() const {
  std::uint64_t events = 0;
  for (const ProcessSummary& process : contents_->processes) events += process.events;
  return events;
}

Capture::SharedDecoding::SharedDecoding(const Capture& capture) : decoded_(&capture.contents_->decoded) {
  decoded_->Share();
}
Capture::SharedDecoding::~SharedDecoding() { decoded_->Release(); }

using UnrecordedSpan = ReplayReport::Process::UnrecordedSpan;

const UnrecordedSpan* ReplayReport::Process::UnknownCudaMemory() const {
  const auto found = std::ranges::find(unrecorded, v1::Unrecorded::CUDA_MEMORY, &UnrecordedSpan::what);
  return found == unrecorded.end() ? nullptr : &*found;
}

const UnrecordedSpan* ReplayReport::Process::UnknownCudaMemoryAtEnd() const {
  const auto found = std::ranges::find_if(
      unrecorded, [](const UnrecordedSpan& span) { return span.what == v1::Unrecorded::CUDA_MEMORY && !span.ended; });
  return found == unrecorded.end() ? nullptr : &*found;
}

}  // namespace memoir
