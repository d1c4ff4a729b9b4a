// Snapshots: the state of a process at one instant as a capture of its own, beside the one that is being recorded.
//
//     chunk 1: keyframe (live blocks, segments, sums)    chunk 2: what modules and optimizers hold, the end    index
//
// Its dictionaries are defined in it alone, so that any reader of captures opens it. One thread, the writer's.
#ifndef TRACKER_WRITER_SNAPSHOT_WRITER_H_
#define TRACKER_WRITER_SNAPSHOT_WRITER_H_

#include <cstdint>
#include <string>

#include "interpose/ring_reader.h"
#include "tracker/writer/chunk_builder.h"

namespace memoir {

struct SnapshotRequest {
  std::string folder;        // made, with its parents, when it is missing
  std::string recording;     // whose folder it may not be
  std::string stem;          // as of the recording's parts
  std::string process_info;  // encoded, of the recording
  std::string why;           // "called", "signal", ...: what asked for it
  std::uint64_t tick = 0;    // everything before it is in the builder's state
};

// Counts the snapshots of a process, whose dictionaries are numbered behind each other.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(ChunkBuilder* builder) : builder_(*builder) {}

  // While the builder's chunk is empty; `part` is the recording's, as SetPart was told. "" or one line that says what
  // is wrong and what to do; then no file is left.
  std::string Write(const SnapshotRequest& request, std::uint32_t part);

 private:
  ChunkBuilder& builder_;
  std::uint32_t snapshots_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_SNAPSHOT_WRITER_H_
