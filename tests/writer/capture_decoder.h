// A second reader of captures, straight from docs/capture_format.md with libprotobuf: what the writer must be right
// about.
//
// Strict: anything that the page forbids is an error, so that tests see it.
#ifndef TESTS_WRITER_CAPTURE_DECODER_H_
#define TESTS_WRITER_CAPTURE_DECODER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tests/writer/event_model.h"

namespace memoir::test {

struct DecodedRun {
  std::uint32_t thread = 0;
  std::uint64_t first_record = 0;
  std::uint64_t record_count = 0;
  std::uint32_t start_depth = 0;
  std::vector<FrameSeen> start_stack;
  std::vector<Event> events;
};

struct DecodedChunk {
  memoir::v1::Chunk header;  // without its payload
  memoir::v1::Payload payload;
  std::size_t payload_bytes = 0;  // before zstd
  std::vector<DecodedRun> runs;
};

struct DecodedPart {
  std::string path;
  std::uint64_t file_bytes = 0;
  memoir::v1::ProcessInfo process;
  bool has_index = false;
  std::vector<DecodedChunk> chunks;  // the index chunk apart
  std::map<std::uint32_t, memoir::v1::NameDef> names;
  std::map<std::uint32_t, std::vector<FrameSeen>> stacks;
  std::map<std::uint32_t, memoir::v1::ThreadDef> threads;
  std::map<std::uint32_t, memoir::v1::DeviceDef> devices;
};

struct DecodedCapture {
  std::vector<DecodedPart> parts;  // in the order of their numbers
  std::vector<std::string> errors;

  std::map<std::uint32_t, std::vector<Event>> EventsByThread() const;
  std::uint64_t events() const;
  const memoir::v1::Counters& counters() const;  // of the last chunk
  const memoir::v1::End& end() const;
  std::vector<const DecodedChunk*> chunks() const;
  // Leaves the parts without a gap between them up to the newest: older ones were kept for what is in them.
  void ForgetBeforeGaps();
};

// All *.memoir files of the folder.
DecodedCapture DecodeFolder(const std::string& folder);
DecodedPart DecodePart(const std::string& path, std::vector<std::string>* errors);

}  // namespace memoir::test

#endif  // TESTS_WRITER_CAPTURE_DECODER_H_
