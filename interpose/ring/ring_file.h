// Creates the ring's file: chooses its folder and size, allocates it and maps it, so that no later store can fault.
//
// The extents in use are allocated before they are mapped, so a full folder causes no SIGBUS. Their pages are present
// before recording begins. The file has a hole for the extents that are not yet in use.
#ifndef INTERPOSE_RING_RING_FILE_H_
#define INTERPOSE_RING_RING_FILE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"
#include "interpose/system/process_identity.h"

namespace memoir {

struct RingFile {
  int fd;
  void* base;
  std::uint32_t segments_in_use;
  std::uint32_t segment_count;  // all extents, including those not yet in use (ring_growth.h)
  char path[4096 + 64];
};

// Creates and maps the file. On failure returns false and writes one line into `error`, like RingOpen. Call it inside
// RunInOwnFiles; `fd` belongs to the files thread's table of descriptors.
bool CreateRingFile(const RingOptions& options, const ProcessIdentity& process, RingFile* file, char* error,
                    std::size_t error_bytes);

// Returns the name of the network file system with statfs' f_type `type`. nullptr for a local or unknown file system.
const char* NetworkFileSystem(long type);

// Takes the lock that marks a ring as in use; false if another process holds the lock. The lock lasts until this
// process ends or closes any descriptor of the file.
bool LockRingFile(int fd);

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_FILE_H_
