// Snapshots: the state of a process at one time, as a separate capture.
//
//     chunk 1: keyframe (live blocks, segments, sums)    chunk 2: tensors of modules and optimizers, the end    index
//
// A snapshot defines its own dictionaries, so any reader of captures can open it. Only the writer uses this file, on
// one thread at a time.
#ifndef TRACKER_WRITER_SNAPSHOT_WRITER_H_
#define TRACKER_WRITER_SNAPSHOT_WRITER_H_

#include <cstdint>
#include <string>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/chunk_builder.h"

namespace memoir {

struct SnapshotRequest {
  std::string folder;        // made, with its parents, if it does not exist
  std::string recording;     // the recording's folder; `folder` must be another one
  std::string stem;          // beginning of the part's name, as for parts of the recording
  std::string process_info;  // encoded ProcessInfo of the recording
  std::string why;           // cause: "program", "signal", "oom", ...
  std::uint64_t tick = 0;    // the builder's state includes every event before this tick
};

// Writes the snapshots of a process. Counts them: each snapshot defines its dictionaries under a part number that no
// other part or snapshot has.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(ChunkBuilder* builder) : builder_(*builder) {}

  // Writes a snapshot. Call it while the builder's chunk is empty. `part`: the recording's part, to which the builder
  // returns afterwards (ChunkBuilder::SetPart). Returns "" or one line with the error and the remedy; after an error no
  // file is left.
  std::string Write(const SnapshotRequest& request, std::uint32_t part);

 private:
  ChunkBuilder& builder_;
  std::uint32_t snapshots_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_SNAPSHOT_WRITER_H_
