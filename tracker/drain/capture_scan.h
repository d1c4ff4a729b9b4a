// Scans the parts that a dead process wrote, before memoir-drain appends records from its ring. Finds, for each thread,
// the index of the first record that no part contains, and whether the last chunk of the recording was written.
//
// Reads the parts newest first. Stops when it has found every thread that has records in the ring. One thread.
#ifndef TRACKER_DRAIN_CAPTURE_SCAN_H_
#define TRACKER_DRAIN_CAPTURE_SCAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "tracker/writer/writer.h"

namespace memoir {

struct ScannedCapture {
  // Index of the first record that no part contains, by thread.
  std::unordered_map<std::uint32_t, std::uint64_t> next_record;
  std::uint64_t next_sequence = 0;  // sequence number of the next chunk
  std::uint32_t next_part = 0;      // number of the next part
  // True if a chunk has an End: the process, or an earlier drain, wrote the recording's last chunk.
  bool ended = false;
  WriterStatus counted;  // the losses that the newest chunk with counters reports
};

// Scans the parts in `folder` whose names begin with `stem`. `process_info`: the process's encoded ProcessInfo
// (capture.proto), which distinguishes its parts from parts of an earlier recording under the same name. `threads`: the
// threads that have records in the ring, each with the index up to which the process's writer had consumed the thread's
// records. ScanCapture uses this index if parts of the capture were evicted, or chunks were lost.
ScannedCapture ScanCapture(const std::string& folder, const std::string& stem, const std::string& process_info,
                           const std::map<std::uint32_t, std::uint64_t>& threads);

}  // namespace memoir

#endif  // TRACKER_DRAIN_CAPTURE_SCAN_H_
