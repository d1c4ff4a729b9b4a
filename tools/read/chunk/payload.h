// The contents of a decompressed chunk: dictionaries as messages, tensors as rows, and runs as columns that are read in
// place.
//
// Parsing verifies that every column has as many values as the events need. So the functions that read columns check
// nothing.
#ifndef TOOLS_READ_CHUNK_PAYLOAD_H_
#define TOOLS_READ_CHUNK_PAYLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memoir/v1/capture.pb.h"
#include "tools/read/chunk/run.h"
#include "tools/read/chunk/run_check.h"
#include "tools/read/chunk/step_pattern.h"
#include "tools/read/chunk/varint.h"

namespace memoir {

// A row of the chunk's tensor table. Layout and device are ids of the part's dictionaries.
struct TensorRow {
  std::uint64_t impl = 0;
  std::uint64_t storage = 0;
  std::uint64_t storage_bytes = 0;
  std::uint32_t layout = 0;
  std::uint32_t device = 0;
  std::uint32_t traits = 0;
};

struct Payload {
  std::string bytes;  // `runs` and `keyframe` point into it
  std::vector<v1::NameDef> names;
  std::vector<v1::LayoutDef> layouts;
  std::vector<v1::SignatureDef> signatures;
  std::vector<v1::ThreadDef> threads;
  std::vector<v1::DeviceDef> devices;
  std::vector<v1::StackDef> stacks;
  std::vector<TensorRow> tensors;
  std::vector<Run> runs;
  std::vector<std::shared_ptr<const StepPattern>> step_patterns;
  std::size_t pattern_events = 0;  // events in all step patterns
  PatternRows pattern_rows;
  std::vector<v1::RepeatedRecords> repeated_records;
  v1::ClockSync clock;  // tick 0: the chunk has no reading of the clock
  v1::Counters counters;
  bool has_counters = false;
  bool has_end = false;
  v1::End end;
  std::string_view keyframe;  // encoded; ParseKeyframe parses it on demand
  std::uint64_t events = 0;

  std::uint64_t memory_bytes() const;  // approximate
};

// Parses decompressed bytes, and adds the counts of the chunk's signatures to `signature_counts`. An error message has
// the form of Damage::what.
absl::Status ParsePayload(std::string bytes, SignatureCountsById* signature_counts, Payload* payload);

// Adds the counts of the signatures of a parsed payload to `signature_counts`.
absl::Status AddSignatures(const Payload& payload, SignatureCountsById* signature_counts);

// Sets `tensors` to the number of entries that one event with this signature has in the tensor column. Returns false if
// the list lengths do not match the kinds.
bool CountTensors(const v1::SignatureDef& signature, std::uint64_t* tensors);
// Returns the number of entries that one event with this signature has in the column of names: the parameters and
// buffers of a module, which are the first and third of its lists. 0 if the signature does not have three lists.
std::uint64_t CountHoldsNames(const v1::SignatureDef& signature);

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_PAYLOAD_H_
