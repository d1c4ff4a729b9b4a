#include "tracker/drain/capture_scan.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include "tracker/drain/part_reader.h"
#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

using protozero::pbf_reader;

// Returns the number and path of each part whose name begins with `stem`, newest first.
std::vector<std::pair<std::uint32_t, std::string>> PartsOf(const std::string& folder, const std::string& stem) {
  std::vector<std::pair<std::uint32_t, std::string>> parts;
  const std::string prefix = stem + ".p";
  const std::string suffix = ".memoir";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size()) continue;
    const char* const end = name.data() + name.size() - suffix.size();
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end) parts.emplace_back(number, entry.path());
  }
  std::sort(parts.rbegin(), parts.rend());
  return parts;
}

// Returns bytes that identify a recording: its process, and the encoded clock at its start.
std::string Identity(std::string_view process_info) {
  std::string identity;
  pbf_reader reader(process_info.data(), process_info.size());
  while (reader.next()) {
    if (reader.tag() == field::process_info::kStart) {
      identity += reader.get_bytes();
    } else if (reader.tag() == field::process_info::kPid) {
      identity += std::to_string(reader.get_uint64()) + " ";
    } else {
      reader.skip();
    }
  }
  return identity;
}

void ReadRun(pbf_reader run, ScannedCapture* on_file) {
  std::uint32_t thread = 0;
  std::uint64_t next = 0;
  while (run.next()) {
    switch (run.tag()) {
      case field::thread_run::kThread:
        thread = run.get_uint32();
        break;
      case field::thread_run::kFirstRecord:
      case field::thread_run::kRecordCount:
        next += run.get_uint64();
        break;
      default:
        run.skip();
    }
  }
  std::uint64_t& known = on_file->next_record[thread];
  known = std::max(known, next);
}

void ReadRepeatedRecords(pbf_reader records, ScannedCapture* on_file) {
  std::uint32_t thread = 0;
  std::uint64_t end = 0;
  while (records.next()) {
    switch (records.tag()) {
      case field::repeated_records::kThread:
        thread = records.get_uint32();
        break;
      case field::repeated_records::kEndRecord:
        end = records.get_uint64();
        break;
      default:
        records.skip();
    }
  }
  std::uint64_t& known = on_file->next_record[thread];
  known = std::max(known, end);
}

void ReadCounters(pbf_reader counters, WriterStatus* counted) {
  *counted = {};
  while (counters.next()) {
    switch (counters.tag()) {
      case field::counters::kLostEvents:
        counted->lost_events = counters.get_uint64();
        break;
      case field::counters::kLostChunks:
        counted->lost_chunks = counters.get_uint64();
        break;
      case field::counters::kLastWriteError:
        counted->last_write_error = counters.get_string();
        break;
      case field::counters::kFoldedEvents:
        counted->folded_events = counters.get_uint64();
        break;
      case field::counters::kFoldedParts:
        counted->folded_parts = counters.get_uint64();
        break;
      case field::counters::kUntrackedBlocks:
        counted->untracked_blocks = counters.get_uint64();
        break;
      default:
        counters.skip();
    }
  }
}

void ReadPayload(std::string_view bytes, bool newest, ScannedCapture* on_file) {
  pbf_reader payload(bytes.data(), bytes.size());
  while (payload.next()) {
    switch (payload.tag()) {
      case field::payload::kRuns:
        ReadRun(payload.get_message(), on_file);
        break;
      case field::payload::kRepeatedRecords:
        ReadRepeatedRecords(payload.get_message(), on_file);
        break;
      case field::payload::kEnd:
        on_file->ended = true;
        payload.skip();
        break;
      case field::payload::kCounters:
        if (newest) {
          ReadCounters(payload.get_message(), &on_file->counted);
        } else {
          payload.skip();
        }
        break;
      default:
        payload.skip();
    }
  }
}

// Reads one part into `on_file`. False if the part belongs to another recording.
bool ReadOnePart(const std::string& path, const std::string& identity, bool newest, ScannedCapture* on_file) {
  bool first = true;
  bool ours = false;
  std::uint64_t recording = 0;
  ReadPart(path, [&](const ChunkView& chunk) {
    if (std::exchange(first, false)) ours = Identity(chunk.process) == identity;
    if (!ours) return false;
    if (recording == 0) recording = chunk.recording;
    if (chunk.recording != recording) return true;  // this chunk belongs to another recording
    on_file->next_sequence = std::max(on_file->next_sequence, chunk.sequence + 1);
    ReadPayload(chunk.payload, newest, on_file);
    return true;
  });
  return ours;
}

}  // namespace

ScannedCapture ScanCapture(const std::string& folder, const std::string& stem, const std::string& process_info,
                           const std::map<std::uint32_t, std::uint64_t>& threads) {
  ScannedCapture on_file;
  const std::string identity = Identity(process_info);
  bool newest = true;
  for (const auto& [number, path] : PartsOf(folder, stem)) {
    if (ReadOnePart(path, identity, newest, &on_file)) {
      newest = false;
      on_file.next_part = std::max(on_file.next_part, number + 1);
    }
    const bool all_met = std::all_of(threads.begin(), threads.end(),
                                     [&](const auto& thread) { return on_file.next_record.contains(thread.first); });
    if (!newest && all_met) break;
  }
  // The process's writer may have consumed records that no part contains. If the capture counts evicted parts or lost
  // chunks, these counts include such records, so the records are not written again. (Eviction may keep an older part
  // for its peak, and remove a newer part with later records of the same thread.) If both counts are 0 and records are
  // missing, a user has deleted parts. Then the records that are still in the ring are written again.
  const bool is_counted = on_file.counted.folded_parts + on_file.counted.lost_chunks > 0;
  for (const auto& [thread, consumed] : threads) {
    std::uint64_t& next = on_file.next_record[thread];
    if (is_counted) next = std::max(next, consumed);
  }
  return on_file;
}

}  // namespace memoir
