// The ring's file: in which folder, how large, created and mapped so that no later store can fault.
//
// The whole file is allocated before it is mapped (no SIGBUS when the folder fills up), and its pages are there
// before recording.
#ifndef INTERPOSE_RING_FILE_H_
#define INTERPOSE_RING_FILE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/kept_file.h"
#include "interpose/process_identity.h"
#include "interpose/ring.h"

namespace memoir {

struct RingFile {
  KeptFile kept;
  void* base;
  std::uint32_t segment_count;
  char path[4096 + 64];
};

// As RingOpen: false with one line in `error`.
bool CreateRingFile(const RingOptions& options, const ProcessIdentity& process, RingFile* file, char* error,
                    std::size_t error_bytes);

// What kind of network file system statfs' f_type means, nullptr: none, or none that is known.
const char* NetworkFileSystem(long type);

// Takes (or tests) the lock that marks a ring as in use; held until this process ends or closes any descriptor of the
// file.
bool LockRingFile(int fd);

}  // namespace memoir

#endif  // INTERPOSE_RING_FILE_H_
