// Field numbers are from the public protos (profiling/profile_packet.proto, profile_common.proto).
#include "tools/view/trace/perfetto_heap.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "protozero/pbf_writer.hpp"
#include "tools/view/trace/perfetto_fields.h"

namespace memoir {
namespace {

using namespace perfetto;

enum InternedField : std::uint32_t {
  kFunctionNames = 5,
  kFrames = 6,
  kCallstacks = 7,
  kMappingPaths = 17,
  kSourcePaths = 18,
  kMappings = 19,
};
enum MappingField : std::uint32_t { kMappingIid = 1, kPathIds = 7 };
enum FrameField : std::uint32_t { kFrameIid = 1, kNameIid = 2, kMappingOfFrame = 3, kSourcePath = 5, kLineNumber = 6 };
enum CallstackField : std::uint32_t { kCallstackIid = 1, kFrameIids = 2 };
enum ProfileField : std::uint32_t { kProcessDumps = 5 };
enum DumpField : std::uint32_t { kPid = 1, kSamples = 2, kDumpTime = 9, kHeapName = 11 };
enum SampleField : std::uint32_t { kCallstack = 1, kAllocated = 2, kFreed = 3, kAllocations = 5, kFrees = 6 };

constexpr std::uint64_t kMapping = 1;  // the only mapping; viewers drop frames without a mapping
constexpr std::string_view kMappingPath = "python";

void AddText(protozero::pbf_writer& interned, InternedField field, std::uint64_t number, std::string_view text) {
  protozero::pbf_writer entry(interned, field);
  entry.add_uint64(kTextIid, number);
  entry.add_string(kText, text.data(), text.size());
}

// Returns "Net.forward net.py:12". The name contains the line, because some viewers do not show a line that is in a
// separate field.
std::string ShownName(const FlameFrame& frame) {
  if (frame.file.empty()) return frame.function;
  return fmt::format("{} {}:{}", frame.function, frame.short_file, frame.line);
}

void AddFrames(protozero::pbf_writer& interned, const FlameSamples& samples) {
  for (std::size_t i = 0; i < samples.frames.size(); ++i) {
    const FlameFrame& frame = samples.frames[i];
    AddText(interned, kFunctionNames, i + 1, ShownName(frame));
    if (!frame.file.empty()) AddText(interned, kSourcePaths, i + 1, frame.file);
    protozero::pbf_writer entry(interned, kFrames);
    entry.add_uint64(kFrameIid, i + 1);
    entry.add_uint64(kNameIid, i + 1);
    entry.add_uint64(kMappingOfFrame, kMapping);
    if (frame.file.empty()) continue;
    entry.add_uint64(kSourcePath, i + 1);
    entry.add_uint32(kLineNumber, frame.line);
  }
}

void AddInterned(protozero::pbf_writer& packet, const FlameSamples& samples) {
  protozero::pbf_writer interned(packet, kInternedData);
  AddText(interned, kMappingPaths, kMapping, kMappingPath);
  {
    protozero::pbf_writer mapping(interned, kMappings);
    mapping.add_uint64(kMappingIid, kMapping);
    mapping.add_uint64(kPathIds, kMapping);
  }
  AddFrames(interned, samples);
  for (std::size_t i = 0; i < samples.samples.size(); ++i) {
    protozero::pbf_writer stack(interned, kCallstacks);
    stack.add_uint64(kCallstackIid, i + 1);
    for (const std::uint32_t frame : samples.samples[i].frames) stack.add_uint64(kFrameIids, std::uint64_t{frame} + 1);
  }
}

// Adds the sums of a stack. Blocks from before the window count as allocated in it, so that the allocated bytes minus
// the freed bytes are the bytes at the peak.
void AddSample(protozero::pbf_writer& dump, std::uint64_t stack, const StackSums& sums) {
  const std::uint64_t bytes = std::max(sums.allocated_bytes, sums.bytes_at_peak);
  const std::uint64_t blocks = std::max(sums.allocations, sums.blocks_at_peak);
  protozero::pbf_writer sample(dump, kSamples);
  sample.add_uint64(kCallstack, stack);
  sample.add_uint64(kAllocated, bytes);
  sample.add_uint64(kFreed, bytes - sums.bytes_at_peak);
  sample.add_uint64(kAllocations, blocks);
  sample.add_uint64(kFrees, blocks - sums.blocks_at_peak);
}

}  // namespace

std::string PerfettoHeap(const PerfettoHeapFacts& facts, const FlameSamples& samples) {
  std::string bytes;
  protozero::pbf_writer trace(bytes);
  {
    protozero::pbf_writer packet(trace, kPacket);
    packet.add_uint64(kTimestamp, facts.ns);
    packet.add_uint32(kSequenceId, facts.sequence);
    packet.add_uint32(kSequenceFlags, kStateCleared | kNeedsState);
    AddInterned(packet, samples);
    protozero::pbf_writer profile(packet, kProfilePacket);
    protozero::pbf_writer dump(profile, kProcessDumps);
    dump.add_uint64(kPid, static_cast<std::uint64_t>(SystemNumber(facts.pid)));
    for (std::size_t i = 0; i < samples.samples.size(); ++i) AddSample(dump, i + 1, samples.samples[i].sums);
    dump.add_uint64(kDumpTime, facts.ns);
    dump.add_string(kHeapName, facts.name);
  }
  return bytes;
}

}  // namespace memoir
