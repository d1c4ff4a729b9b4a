#include "tools/model/capture.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/model/chunk_batch.h"
#include "tools/model/chunk_source.h"
#include "tools/model/pending_ring.h"
#include "tools/model/replayer.h"
#include "tools/model/runs.h"
#include "tools/read/folder.h"
#include "tools/read/process_info.h"

namespace memoir {
namespace {

// A program that replaced itself (exec) keeps its process id: where the earlier recording ended, this one's part
// numbers begin.
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

// Numbers that were skipped are no loss: only where chunks are missing, too, a part is.
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
  TakeNewer(newest, &summary.info);
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

// A chunk that was cut by a kill is no damage when the next part goes on where the file was whole: the ring still held
// its records.
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

void ForgetDamageOf(const ProcessFiles& process, std::vector<Damage>* damage) {
  for (const PartFile& part : process.parts) {
    if (part.damage) std::erase(*damage, *part.damage);
    for (const Damage& passed : part.passed_over) std::erase(*damage, passed);
  }
}

// A program alone is rank 0, numbered or not; beside ranks, what is not numbered is none.
void MarkRanks(std::vector<ProcessSummary>* processes) {
  const bool any = std::any_of(processes->begin(), processes->end(), [](const auto& p) { return HasRank(p.info); });
  for (ProcessSummary& process : *processes) process.is_rank = !any || HasRank(process.info);
}

bool IsWanted(const ProcessSummary& process, const ReplayOptions& options) {
  return !options.rank || (process.is_rank && process.info.rank() == *options.rank);
}

}  // namespace

struct Capture::Contents {
  std::string path;
  CaptureFolder folder;
  std::vector<ProcessSummary> processes;
  DecodedChunks decoded;
  std::vector<RecordedRun> runs;
  std::uint32_t run = kAllRuns;
};

// Leaves the processes of one run in the folder.
absl::Status Capture::ChooseRun(std::uint32_t run, Contents& contents) {
  const std::vector<RunFiles> runs = FindRuns(contents.folder);
  for (const RunFiles& files : runs) contents.runs.push_back({files.start_ns, files.processes.size()});
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

absl::StatusOr<ReplayReport> Capture::Replay(Visitor& visitor, const ReplayOptions& options) const {
  std::uint64_t file_bytes = 0;
  std::set<std::size_t> wanted;
  for (const ProcessSummary& process : contents_->processes) {
    if (!IsWanted(process, options)) continue;
    wanted.insert(process.id.value);
    file_bytes += process.file_bytes;
  }
  ReplayReport report;
  report.damage = contents_->folder.damage;
  for (std::size_t i = 0; i < contents_->folder.processes.size(); ++i)
    if (!wanted.contains(i)) ForgetDamageOf(contents_->folder.processes[i], &report.damage);
  Replayer replayer(contents_->processes, contents_->folder.symbols, visitor, options, &report);
  for (const std::size_t process : wanted) report.processes[process].replayed = true;
  ChunkSource source(contents_->folder, contents_->decoded, std::move(wanted));
  SourceItem item;
  ChunkBatch batch(replayer, visitor.takes_repeats());
  while (source.Next(&item)) {
    batch.Take(item);
    item.chunk = nullptr;
    if (options.progress && file_bytes > 0) {
      options.progress(static_cast<double>(item.file_bytes_done) / static_cast<double>(file_bytes));
    }
    if (options.go_on && !options.go_on()) break;
  }
  visitor.OnEnd(report);
  return report;
}

}  // namespace memoir
