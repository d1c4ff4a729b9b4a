// Defines Capture::Replay, which reads the chunks of a capture and replays them. If it were in tools/model/capture.cc,
// that file would include this folder, which includes tools/model itself: a circle of folders.
#include <cstdint>
#include <set>
#include <utility>

#include "tools/model/capture_contents.h"
#include "tools/model/parts/chunk_source.h"
#include "tools/model/parts/replay_work.h"
#include "tools/model/replay/chunk_batch.h"
#include "tools/model/replay/replayer.h"

namespace memoir {
namespace {

bool IsWanted(const ProcessSummary& process, const ReplayOptions& options) {
  return !options.rank || (process.is_rank && process.info.rank() == *options.rank);
}

}  // namespace

absl::StatusOr<ReplayReport> Capture::Replay(Visitor& visitor, const ReplayOptions& options) const {
  ++TotalReplayWork().replays;
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
