// Records physical memory without an address (cuMemCreate, cuMemImportFromShareableHandle). Such memory exists until
// its handle has been released as often as acquired, and all of its mappings are removed.
//
//   create ─► handle, 1 hold ─┬─ retain ─► +1      release ─► -1
//                             └─ map ────► +1      unmap ───► -1       0: the driver has it back
//
// After a handle is released, the driver may use the same handle for new memory although the old memory is still
// mapped. In this case Memoir records the new memory under another id.
//
// This code needs no library except libc. Its functions may be called on any thread, also under the lock of torch's
// CUDA allocator. Sizes are in bytes.
#ifndef INTERPOSE_CUDA_PHYSICAL_MEMORY_H_
#define INTERPOSE_CUDA_PHYSICAL_MEMORY_H_

#include <cstdint>

#include "interpose/cuda/caller_names.h"
#include "interpose/records/ring_record.h"

namespace memoir {

// Forgets all physical memory when a recording begins.
void ForgetPhysicalMemory();

// Call these after the program's call, if it succeeded. Imported memory is recorded only at its first mapping, because
// its size is unknown until then.
void NotePhysicalCreated(std::uint64_t handle, int device, std::uint64_t bytes, const LibraryName& library);
void NotePhysicalImported(std::uint64_t handle, int device);
void NotePhysicalRetained(std::uint64_t handle, std::uint64_t address);
void NotePhysicalMapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle, const LibraryName& library);

// Call these before the program's call, because afterwards another allocation may have the same handle or address.
// They assume that the program's call will succeed, and ignore an unknown handle or mapping.
void NotePhysicalReleasing(std::uint64_t handle);
void NotePhysicalUnmapping(std::uint64_t address, std::uint64_t bytes);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_PHYSICAL_MEMORY_H_
