#include "tools/view/capture/loss_headlines.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fmt/format.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/process_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Sums over all replayed processes.
struct LossSums {
  std::uint64_t dropped = 0, without_slot = 0, lost_events = 0, lost_chunks = 0, missing_parts = 0, untracked = 0;
  std::uint64_t unread_stacks = 0, cut_stacks = 0, deep_calls = 0, evicted_parts = 0;
  std::uint64_t failed = 0, killed = 0, merged = 0;
  std::string write_error, failure, unrecorded;
};

void AddEnd(const v1::End& end, LossSums& losses) {
  switch (end.reason()) {
    case v1::End::MERGED:
      ++losses.merged;
      break;
    case v1::End::FAILED:
      ++losses.failed;
      losses.failure = Escaped(end.message());
      break;
    case v1::End::STOPPED:
    case v1::End::EXITED:
      break;
    default:
      ++losses.killed;
  }
}

LossSums SumsOf(const Capture& capture, const ReplayReport& report) {
  LossSums losses;
  for (const ProcessSummary& process : capture.processes()) {
    const ReplayReport::Process& end = report.processes[process.id.value];
    if (!end.replayed) continue;
    const v1::Counters& counters = end.counters;
    const std::uint64_t slotless = std::min(counters.slotless_records(), counters.dropped_records());
    losses.dropped += counters.dropped_records() - slotless;
    losses.without_slot += slotless;
    losses.lost_events += counters.lost_events();
    losses.lost_chunks += counters.lost_chunks();
    losses.missing_parts += MissingParts(process, counters);
    losses.untracked += counters.untracked_blocks();
    losses.unread_stacks += counters.unread_stacks();
    losses.cut_stacks += counters.cut_stacks();
    losses.deep_calls += counters.deep_calls();
    losses.evicted_parts += counters.folded_parts();
    if (!counters.last_write_error().empty()) losses.write_error = Escaped(counters.last_write_error());
    const std::vector<std::string> unrecorded = UnrecordedLines(end);
    if (losses.unrecorded.empty() && !unrecorded.empty()) losses.unrecorded = unrecorded.front();
    if (!IsIdle(capture, process.id)) AddEnd(end.end, losses);
  }
  return losses;
}

std::string Processes(std::uint64_t count) { return FormatCounted(count, "process", "processes"); }

// Cuts `text` at its first parenthesis, which contains an explanation for first-time readers, or at its first newline.
std::string InShort(const std::string& text) { return text.substr(0, std::min(text.find(" ("), text.find('\n'))); }

class Headlines {
 public:
  void Add(bool holds, std::string line) {
    if (holds) lines_.push_back({std::move(line), true});
  }
  void AddEnd(bool holds, std::string line) {
    if (holds) lines_.push_back({std::move(line), true, true});
  }
  void AddNote(std::string line) {
    if (!line.empty()) lines_.push_back({std::move(line), false});
  }
  std::vector<LossHeadline> Take() { return std::move(lines_); }

 private:
  std::vector<LossHeadline> lines_;
};

}  // namespace

std::vector<LossHeadline> LossHeadlines(const Capture& capture, const ReplayReport& report) {
  const LossSums losses = SumsOf(capture, report);
  Headlines lines;
  const std::uint64_t gone = report.lost_records - std::min(report.lost_records, losses.dropped + losses.without_slot);
  lines.Add(!losses.unrecorded.empty(), losses.unrecorded);
  lines.Add(losses.dropped > 0,
            FormatCounted(losses.dropped, "event", "events") + " dropped: record again with a larger --ring-size");
  lines.Add(losses.without_slot > 0,
            FormatCounted(losses.without_slot, "event", "events") + " dropped: more than 2,048 threads ran at once");
  lines.Add(losses.lost_events > 0,
            FormatCounted(losses.lost_events, "event was", "events were") + " not written: " + losses.write_error);
  lines.Add(losses.lost_events == 0 && losses.lost_chunks > 0,
            "the newest part may be incomplete: " + losses.write_error);
  lines.Add(!report.damage.empty(),
            report.damage.empty()
                ? ""
                : "damaged: " + Escaped(ToString(report.damage.front())) +
                      (report.damage.size() > 1 ? fmt::format(" and {} more", report.damage.size() - 1) : ""));
  lines.Add(losses.missing_parts > 0,
            FormatCounted(losses.missing_parts, "part is", "parts are") + " missing: removed, or not copied");
  lines.Add(gone > 0, FormatCounted(gone, "record is", "records are") + " missing in the parts");
  lines.Add(report.lost_chunks > 0, FormatCounted(report.lost_chunks, "chunk is", "chunks are") +
                                        " missing: never written, or in a missing part");
  lines.Add(report.repeated_records > 0, FormatCounted(report.repeated_records, "record is", "records are") +
                                             " in the parts twice: sums are too large");
  lines.Add(losses.failed > 0, "the recording of " + Processes(losses.failed) + " ended early: " + losses.failure);
  lines.Add(losses.killed > 0, Processes(losses.killed) + " without an end (killed?): newest events may be missing");
  lines.Add(report.keyframe_mismatches > 0, "sums of the events differ from the recorder's");
  lines.Add(report.statistics_mismatches > 0, "sums of the events differ from the CUDA allocator's statistics");
  lines.Add(losses.untracked > 0,
            FormatCounted(losses.untracked, "block is", "blocks are") + " missing from keyframes: too many were live");
  lines.Add(losses.unread_stacks > 0,
            FormatCounted(losses.unread_stacks, "Python stack", "Python stacks") + " could not be read");
  lines.Add(losses.cut_stacks > 0, FormatCounted(losses.cut_stacks, "Python stack is", "Python stacks are") +
                                       " deeper than 1,024 frames, and cut");
  lines.Add(losses.deep_calls > 0, FormatCounted(losses.deep_calls, "Python call is", "Python calls are") +
                                       " more than 8,000 deep, and not recorded");
  lines.AddEnd(losses.merged > 0, Processes(losses.merged) + " " + kEndedWithoutStopping);
  const std::string conflict = RenderRankConflicts(capture, report);
  lines.Add(!conflict.empty(), conflict);
  lines.AddNote(RecordingWasOff(report));
  if (losses.evicted_parts > 0)
    lines.AddNote("--max-size evicted " + FormatCounted(losses.evicted_parts, "part", "parts") +
                  " and kept their sums");
  lines.AddNote(InShort(RenderForkedChildren(capture, report)));
  return lines.Take();
}

}  // namespace memoir
