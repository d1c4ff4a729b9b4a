#include "tools/view/json/json.h"

#include <algorithm>
#include <cstdint>

#include "tools/model/import_source.h"
#include "tools/model/job.h"
#include "tools/model/snapshot_trigger.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

constexpr int kJsonVersion = 1;

const char* EndName(v1::End::Reason reason) {
  switch (reason) {
    case v1::End::STOPPED:
      return "stopped";
    case v1::End::EXITED:
      return "exited";
    case v1::End::MERGED:
      return "merged";
    case v1::End::FAILED:
      return "failed";
    default:
      return "unknown";
  }
}

const char* UnrecordedName(v1::Unrecorded::What what) {
  switch (what) {
    case v1::Unrecorded::CUDA_MEMORY:
      return "cuda_memory";
    case v1::Unrecorded::DRIVER_CALLS:
      return "driver_calls";
    case v1::Unrecorded::PYTHON_STACKS:
      return "python_stacks";
    case v1::Unrecorded::NATIVE_STACKS:
      return "native_stacks";
    case v1::Unrecorded::KERNEL_TIMES:
      return "kernel_times";
    default:
      return "unknown";
  }
}

// Adds nothing if there are no gaps.
void AddGaps(Json& json, const ReplayReport::Process& process) {
  if (process.gap_count == 0) return;
  json["gap_count"] = process.gap_count;
  json["gaps"] = Json::array();
  for (const auto& gap : process.gaps) {
    json["gaps"].push_back({{"level", LevelName(gap.level)}, {"begin_ns", gap.begin_ns}, {"end_ns", gap.end_ns}});
  }
  json["unknown_blocks"] = process.unknown_blocks;
  json["unknown_bytes"] = process.unknown_bytes;
}

// Adds nothing if no steps were counted. Steps are counted only with --detail auto.
void AddKnownSteps(Json& json, const ReplayReport::Process& process) {
  const RepeatedStepCounts& known = process.repeated_steps;
  if (known.steps == 0) return;
  json["known_steps"] = {{"steps", known.steps},
                         {"steps_in_full", known.full_steps},
                         {"inferred_blocks", known.inferred_blocks},
                         {"inferred_bytes", known.inferred_bytes},
                         {"not_inferred_blocks", known.unknown_blocks},
                         {"not_inferred_bytes", known.unknown_bytes}};
}

// Adds nothing if everything was recorded. If `end_ns` is null, the span extends to the end.
void AddUnrecorded(Json& json, const ReplayReport::Process& process) {
  for (const auto& span : process.unrecorded) {
    json["unrecorded"].push_back({{"what", UnrecordedName(span.what)},
                                  {"begin_ns", span.begin_ns},
                                  {"end_ns", span.ended ? Json(span.end_ns) : Json(nullptr)},
                                  {"why", span.why}});
  }
}

void AddCounters(Json& json, const v1::Counters& counters) {
  json["dropped_events"] = counters.dropped_records();
  json["dropped_allocated_bytes"] = counters.dropped_allocated_bytes();
  json["lost_events"] = counters.lost_events();
  json["last_write_error"] = counters.last_write_error();
  json["folded_events"] = counters.folded_events();
  json["folded_parts"] = counters.folded_parts();
  json["waits"] = counters.waits();
  json["wait_ns"] = counters.wait_ns();
  json["untracked_blocks"] = counters.untracked_blocks();
  json["slotless_records"] = counters.slotless_records();
  json["cut_stacks"] = counters.cut_stacks();
  json["unread_stacks"] = counters.unread_stacks();
  json["deep_calls"] = counters.deep_calls();
  json["forked_children"] = counters.forked_children();
}

Json ProcessJson(const ProcessSummary& process, const ReplayReport& report) {
  const v1::ProcessInfo& info = process.info;
  Json json = {{"rank", RankJson(process.rank())},
               {"rank_source", info.rank_source()},
               {"rank_conflict", info.rank_conflict()},
               {"world_size", info.world_size()},
               {"restart", info.restart()},
               {"imported_from", DescribeImport(ImportSourceOf(process))},
               {"pid", info.pid() == 0 ? Json(nullptr) : Json(info.pid())},
               {"forked_from", nullptr},
               {"host", info.host()},
               {"program", info.program()},
               {"snapshot", SnapshotTrigger(process)},
               {"coordinates", CoordinatesJson(info)},
               {"allocator_settings", info.allocator_settings()},
               {"torch_version", info.torch_version()},
               {"python_version", info.python_version()},
               {"memoir_version", info.memoir_version()},
               {"simulated_device", info.simulated_device()},
               {"start_ns", process.start_ns},
               {"events", process.events},
               {"parts", process.parts},
               {"missing_parts", process.missing_parts},
               {"file_bytes", process.file_bytes}};
  json["sources"] = Json::array();
  for (const std::string& source : info.sources()) json["sources"].push_back(source);
  if (info.forked_from() != 0) json["forked_from"] = info.forked_from();
  const auto& seen = report.processes[process.id.value];
  if (!seen.replayed) return json;
  json["duration_ns"] = seen.duration_ns;
  json["end"] = EndName(seen.end.reason());
  json["end_message"] = seen.end.message();
  AddCounters(json, seen.counters);
  AddGaps(json, seen);
  AddKnownSteps(json, seen);
  AddUnrecorded(json, seen);
  // Parts that --max-size evicted do not count as missing.
  json["missing_parts"] = process.missing_parts - std::min(process.missing_parts, seen.counters.folded_parts());
  if (seen.counters.folded_parts() == 0) return json;
  json["evicted"] = Json::array();
  for (const auto& span : seen.evicted)
    json["evicted"].push_back({{"begin_ns", span.begin_ns}, {"end_ns", span.end_ns}});
  return json;
}

Json AttemptsJson(const Capture& capture) {
  Json attempts = Json::array();
  for (const JobAttempt& attempt : DescribeJob(capture).attempts) {
    attempts.push_back({{"restart", attempt.restart},
                        {"world_size", attempt.world_size},
                        {"ranks", attempt.ranks},
                        {"missing_ranks", attempt.missing}});
  }
  return attempts;
}

}  // namespace

Json RankJson(std::optional<std::uint32_t> rank) { return rank ? Json(*rank) : Json(nullptr); }

Json CaptureJson(const Capture& capture, const ReplayReport& report, const std::string& view) {
  Json json = {{"version", kJsonVersion}, {"capture", capture.path()}, {"view", view}};
  json["run"] = capture.run();
  json["runs"] = capture.runs().size();
  std::uint64_t dropped = 0;
  for (const auto& process : report.processes)
    dropped += process.counters.dropped_records() + process.counters.lost_events();
  json["dropped_events"] = dropped;
  json["lost_records"] = report.lost_records;
  json["lost_chunks"] = report.lost_chunks;
  if (report.repeated_records > 0) json["repeated_records"] = report.repeated_records;
  json["late_events"] = report.late_events;
  json["unmatched_deallocations"] = report.unmatched_deallocations;
  json["keyframe_mismatches"] = report.keyframe_mismatches;
  json["statistics_mismatches"] = report.statistics_mismatches;
  json["damage"] = Json::array();
  for (const Damage& damage : report.damage) {
    json["damage"].push_back({{"file", damage.file}, {"offset", damage.offset}, {"what", damage.what}});
  }
  json["attempts"] = AttemptsJson(capture);
  json["processes"] = Json::array();
  for (const ProcessSummary& process : capture.processes()) json["processes"].push_back(ProcessJson(process, report));
  return json;
}

Json CoordinatesJson(const v1::ProcessInfo& info) {
  Json coordinates = Json::array();
  for (const v1::Coordinate& of : info.coordinates())
    coordinates.push_back({{"dimension", of.dimension()}, {"index", of.index()}, {"size", of.size()}});
  return coordinates;
}

const char* LevelName(v1::RecordingLevel level) {
  switch (level) {
    case v1::LEVEL_OFF:
      return "off";
    case v1::LEVEL_MEMORY:
      return "memory";
    default:
      return "all";
  }
}

std::string ToText(const Json& json) {
  return EscapedInJson(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string Quoted(std::string_view text) {
  return EscapedInJson(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace memoir
