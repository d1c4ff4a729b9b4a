// Physical memory without an address (cuMemCreate, cuMemImportFromShareableHandle): it lives until its handle is
// released as often as it was had, and all that is mapped of it is unmapped.
//
//   create ─► handle, 1 hold ─┬─ retain ─► +1      release ─► -1
//                             └─ map ────► +1      unmap ───► -1       0: the driver has it back
//
// The driver may use a handle's number again while what it named lives on in mappings: such memory is recorded under a
// number of its own.
//
// libc only. Any thread, also under torch's lock of a device. Sizes are bytes.
#ifndef INTERPOSE_CUDA_PHYSICAL_MEMORY_H_
#define INTERPOSE_CUDA_PHYSICAL_MEMORY_H_

#include <cstdint>

#include "interpose/cuda/caller_names.h"
#include "interpose/ring_record.h"

namespace memoir {

// A recording begins.
void ForgetPhysicalMemory();

// What a call that succeeded did. Memory that was imported says its size with its first mapping, and is recorded then.
void PhysicalCreated(std::uint64_t handle, int device, std::uint64_t bytes, const LibraryName& library);
void PhysicalImported(std::uint64_t handle, int device);
void PhysicalRetained(std::uint64_t handle, std::uint64_t address);
void PhysicalMapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle, const LibraryName& library);

// What a call is about to do, said before it: afterwards the number may be another's. That such a call fails with a
// handle or a mapping that it was given itself is not foreseen.
void PhysicalReleasing(std::uint64_t handle);
void PhysicalUnmapping(std::uint64_t address, std::uint64_t bytes);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_PHYSICAL_MEMORY_H_
