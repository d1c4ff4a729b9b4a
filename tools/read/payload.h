// A decompressed chunk: dictionaries as messages, runs and tensors as columns that are walked where they lie.
//
// Parsing checks that every column has as many values as the events need; walking them afterwards is safe without
// checks.
#ifndef TOOLS_READ_PAYLOAD_H_
#define TOOLS_READ_PAYLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memoir/v1/capture.pb.h"
#include "tools/read/run.h"
#include "tools/read/stretch.h"
#include "tools/read/varint.h"

namespace memoir {

// A row of the chunk's tensor table; layout and device are the part's numbers.
struct TensorRow {
  std::uint64_t impl = 0;
  std::uint64_t storage = 0;
  std::uint64_t storage_bytes = 0;
  std::uint32_t layout = 0;
  std::uint32_t device = 0;
  std::uint32_t traits = 0;
};

struct Payload {
  std::string bytes;  // what the views below point into
  std::vector<v1::NameDef> names;
  std::vector<v1::LayoutDef> layouts;
  std::vector<v1::SignatureDef> signatures;
  std::vector<v1::ThreadDef> threads;
  std::vector<v1::DeviceDef> devices;
  std::vector<v1::StackDef> stacks;
  std::vector<TensorRow> tensors;
  std::vector<Run> runs;
  std::vector<std::shared_ptr<const Stretch>> stretches;
  std::size_t stretch_events = 0;  // of all these
  Repeats repeats;
  std::vector<v1::RepeatedRecords> repeated_records;
  v1::ClockSync clock;  // tick 0: none
  v1::Counters counters;
  bool has_counters = false;
  bool has_end = false;
  v1::End end;
  std::string_view keyframe;  // encoded; ParseKeyframe reads it, because most are not needed
  std::uint64_t events = 0;

  std::uint64_t memory() const;  // roughly what it occupies
};

// How many values each signature of a part takes, by its number: needed to check columns. Empty it at each part.
struct SignatureCounts {
  std::uint64_t tensors = 0;
  std::uint64_t names = 0;  // where it is what a module holds
  bool operator==(const SignatureCounts&) const = default;
};
using SignatureTensors = absl::flat_hash_map<std::uint32_t, SignatureCounts>;

// Takes the decompressed bytes. Adds the chunk's own signatures to `signature_tensors`. The message of an error is what
// Damage::what wants.
absl::Status ParsePayload(std::string bytes, SignatureTensors* signature_tensors, Payload* payload);

// The second half of that alone, of a payload that was parsed before.
absl::Status AddSignatures(const Payload& payload, SignatureTensors* signature_tensors);

// Entries that a signature takes from the tensor column; false when its list lengths do not match its kinds.
bool CountTensors(const v1::SignatureDef& signature, std::uint64_t* tensors);
// Entries that it takes from the column of names as what a module holds: of three lists the first and the third.
std::uint64_t CountHoldsNames(const v1::SignatureDef& signature);

}  // namespace memoir

#endif  // TOOLS_READ_PAYLOAD_H_
