// What a dead process's parts already hold: per thread the next record that is not on file, and how its chunks ended.
//
// Reads the parts newest first and stops when it has met every thread that the ring still has records of. One thread.
#ifndef TRACKER_DRAIN_CAPTURE_SCAN_H_
#define TRACKER_DRAIN_CAPTURE_SCAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "tracker/writer/writer.h"

namespace memoir {

struct OnFile {
  std::unordered_map<std::uint32_t, std::uint64_t> next_record;  // by thread
  std::uint64_t next_sequence = 0;
  std::uint32_t next_part = 0;  // number
  bool ended = false;    // an End is there: the process, or an earlier drain, came to its last chunk
  WriterStatus counted;  // losses that the newest chunk notes
};

// `process_info` tells the process's own parts from those of an earlier recording under the same name. `threads`: those
// with records in the ring, and for each the index up to which its process had brought them on file: the part where
// they lie may be evicted.
OnFile ScanCapture(const std::string& folder, const std::string& stem, const std::string& process_info,
                   const std::map<std::uint32_t, std::uint64_t>& threads);

}  // namespace memoir

#endif  // TRACKER_DRAIN_CAPTURE_SCAN_H_
