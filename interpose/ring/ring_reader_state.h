// RingReader::State, and the functions that create an empty state and the state for a ring file.
#ifndef INTERPOSE_RING_RING_READER_STATE_H_
#define INTERPOSE_RING_RING_READER_STATE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring_layout.h"
#include "interpose/ring/ring_reader.h"

namespace memoir {

// An extent with unconsumed records. Scan sorts these keys by thread and first_record.
struct ScanKey {
  std::uint32_t thread;
  std::uint32_t segment;
  std::uint64_t first_record;
};

struct RingReader::State {
  RingMap map;
  bool live;
  int fd;                    // descriptor of the file, open for the file's lock; -1 when live
  std::size_t copied_bytes;  // size of the private copy of the file; 0 when live
  std::size_t state_bytes;   // size of this state with `keys` and `consumed`
  std::uint32_t work_seen;   // RingHeader::work_word when WaitForWork last returned
  // For a file, per extent: how many of its records the dead process's own reader had consumed.
  std::uint64_t* consumed;
  ScanKey keys[];  // as many as the ring has extents
};

// Creates an empty state for a ring of `segment_count` extents. nullptr without memory.
RingReader::State* MakeReaderState(std::uint32_t segment_count);

// Reads a ring file into private memory and makes its contents safe to use (ring_reader.h). On failure returns nullptr
// and writes one line into `error`.
RingReader::State* LoadRingFile(const char* path, char* error, std::size_t error_bytes);

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_READER_STATE_H_
