// RingReader::State, and how its two modes fill it.
#ifndef INTERPOSE_RING_READER_STATE_H_
#define INTERPOSE_RING_READER_STATE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring_layout.h"

namespace memoir {

// A segment with something to read, in the order in which Scan yields.
struct ScanKey {
  std::uint32_t thread;
  std::uint32_t segment;
  std::uint64_t first_record;
};

struct RingReader::State {
  RingMap map;
  bool live;
  int fd;                    // of the file, held for its lock; -1 when live
  std::size_t copied_bytes;  // of the file, in private memory; 0 when live
  std::size_t state_bytes;   // of this state with its keys
  std::uint32_t work_seen;   // the work word when WaitForWork last returned
  // Of a file, per segment: how many of its records the dead process's own reader had consumed.
  std::uint64_t* consumed;
  ScanKey keys[];  // room for map.segment_count
};

// An empty state with room for as many keys; nullptr when there is no memory.
RingReader::State* MakeReaderState(std::uint32_t segment_count);

// Reads a ring file into private memory and makes everything in it safe to use: see ring_reader.h.
RingReader::State* LoadRingFile(const char* path, char* error, std::size_t error_bytes);

}  // namespace memoir

#endif  // INTERPOSE_RING_READER_STATE_H_
