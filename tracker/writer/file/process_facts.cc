#include "tracker/writer/file/process_facts.h"

#include <algorithm>

#include <xxhash.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"
#include "tracker/writer/file/ring_clock.h"

namespace memoir {
namespace {

namespace fields = field::process_info;

void AddText(protozero::pbf_writer& message, protozero::pbf_tag_type tag, const std::string& text, std::size_t limit) {
  if (!text.empty()) message.add_string(tag, text.data(), std::min(text.size(), limit));
}

void AddUnrecorded(protozero::pbf_writer& message, const UnrecordedEvents& unrecorded, std::size_t text_limit) {
  protozero::pbf_writer part(message, fields::kUnrecorded);
  part.add_enum(field::unrecorded::kWhat, static_cast<std::int32_t>(unrecorded.kind));
  part.add_uint64(field::unrecorded::kBeginTick, unrecorded.begin_tick);
  if (unrecorded.end_tick != 0) part.add_uint64(field::unrecorded::kEndTick, unrecorded.end_tick);
  AddText(part, field::unrecorded::kWhy, unrecorded.why, text_limit);
}

void AddCoordinate(protozero::pbf_writer& message, const Coordinate& coordinate) {
  protozero::pbf_writer part(message, fields::kCoordinates);
  AddText(part, field::coordinate::kDimension, coordinate.dimension, 64);
  part.add_uint32(field::coordinate::kIndex, coordinate.index);
  part.add_uint32(field::coordinate::kSize, coordinate.size);
}

std::string EncodeWithTexts(const ProcessFacts& facts, const RingClock& start, const std::string& ring_path,
                            std::size_t text_limit) {
  std::string bytes;
  protozero::pbf_writer message(bytes);
  message.add_uint32(fields::kFormatVersion, UsesPatternRows(facts) ? kFormatWithRepeats : kFormatVersion);
  message.add_uint64(fields::kPid, facts.pid);
  AddText(message, fields::kHost, facts.host, text_limit);
  message.add_uint32(fields::kRank, facts.rank);
  message.add_uint32(fields::kWorldSize, facts.world_size);
  message.add_uint32(fields::kRestart, facts.restart);
  AddText(message, fields::kRankSource, facts.rank_source, text_limit);
  AddText(message, fields::kProgram, facts.program, text_limit);
  AddText(message, fields::kMemoirVersion, facts.memoir_version, text_limit);
  AddText(message, fields::kTorchVersion, facts.torch_version, text_limit);
  AddText(message, fields::kPythonVersion, facts.python_version, text_limit);
  AddClock(message, fields::kStart, start);
  message.add_uint64(fields::kTicksPerSecond, facts.ticks_per_second);
  AddText(message, fields::kRingPath, ring_path, 1024);
  for (const std::string& source : facts.sources) AddText(message, fields::kSources, source, text_limit);
  AddText(message, fields::kSimulatedDevice, facts.simulated_device, text_limit);
  AddText(message, fields::kBootId, facts.boot_id, text_limit);
  AddText(message, fields::kRankConflict, facts.rank_conflict, text_limit);
  if (!facts.run.empty()) AddText(message, fields::kRun, facts.run, text_limit);
  if (facts.forked_from != 0) message.add_uint64(fields::kForkedFrom, facts.forked_from);
  message.add_uint64(fields::kProcessStart, facts.process_start);
  message.add_uint64(fields::kParentPid, facts.parent_pid);
  message.add_uint64(fields::kParentStart, facts.parent_start);
  for (const UnrecordedEvents& unrecorded : facts.unrecorded) AddUnrecorded(message, unrecorded, text_limit);
  for (const Coordinate& coordinate : facts.coordinates) AddCoordinate(message, coordinate);
  AddText(message, fields::kAllocatorSettings, facts.allocator_settings, text_limit);
  return bytes;
}

}  // namespace

bool UsesPatternRows(const ProcessFacts& facts) {
  return std::ranges::find(facts.sources, "known-steps") != facts.sources.end();
}

std::string EncodeProcessInfo(const ProcessFacts& facts, const RingClock& start, const std::string& ring_path,
                              std::size_t limit) {
  std::size_t text_limit = 1024;
  std::string bytes = EncodeWithTexts(facts, start, ring_path, text_limit);
  while (bytes.size() > limit && text_limit > 8) {
    text_limit /= 2;
    bytes = EncodeWithTexts(facts, start, ring_path, text_limit);
  }
  return bytes;
}

std::uint64_t RecordingIdOf(const std::string& process_info) {
  std::string identity;
  for (protozero::pbf_reader reader(process_info); reader.next();) {
    if (reader.tag() == fields::kPid) {
      identity += std::to_string(reader.get_uint64()) + " ";
    } else if (reader.tag() == fields::kStart) {
      const protozero::data_view bytes = reader.get_view();
      identity.append(bytes.data(), bytes.size());
    } else {
      reader.skip();
    }
  }
  return std::max<std::uint64_t>(XXH64(identity.data(), identity.size(), 0), 1);
}

std::string AddPartNumber(const std::string& process_info, std::uint32_t part) {
  std::string bytes = process_info;
  protozero::pbf_writer(bytes).add_uint32(fields::kPart, part);
  return bytes;
}

}  // namespace memoir
