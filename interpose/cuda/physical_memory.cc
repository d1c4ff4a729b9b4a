#include "interpose/cuda/physical_memory.h"

#include <atomic>
#include <cstddef>

#include "interpose/cuda/block_table.h"
#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_records.h"
#include "interpose/ring/ring.h"

namespace memoir {
namespace {

// Enough for 32 GiB in pieces of 2 MiB. The pieces of torch's expandable segments are larger (20 MiB).
constexpr std::size_t kMost = 16384;
constexpr std::uint64_t kGranularity = 2u << 20;
// If a handle is already in use as an id, Memoir makes another id by a change of the handle's bits 48 and higher.
constexpr int kOwnNumbers = 48;
constexpr std::uint64_t kMostOwnNumbers = 4095;

// A piece of physical memory that has a handle or a mapping.
struct Memory {
  std::atomic<std::uint32_t> holds;    // references by handles and mappings; 0: unused entry
  std::atomic<std::uint32_t> handles;  // references by handles alone
  std::uint64_t number;                // the id under which it is recorded
  std::uint64_t bytes;                 // 0: imported, and not mapped yet
  DriverCall call;
  std::int8_t device;
};
constinit Memory memories[kMost]{};
constinit std::atomic<std::uint32_t> newest{0};

// Claims an unused entry, with one hold for the handle.
Memory* Claim() {
  for (std::size_t i = 0; i < kMost; ++i) {
    Memory& memory = memories[newest.fetch_add(1, std::memory_order_relaxed) % kMost];
    std::uint32_t unused = 0;
    if (!memory.holds.compare_exchange_strong(unused, 1, std::memory_order_acq_rel)) continue;
    memory.handles.store(1, std::memory_order_relaxed);
    return &memory;
  }
  return nullptr;
}

TableEntry EntryOf(const Memory& memory, std::uint64_t bytes) {
  return {bytes, static_cast<std::uint32_t>(&memory - memories), memory.call, memory.device};
}

// Returns the id under which new memory with this handle is recorded: the handle, or another number if older memory is
// still recorded under the handle.
std::uint64_t NumberFor(std::uint64_t handle, std::uint64_t serial) {
  TableEntry alive;
  if (!FindEntry(KeyKind::kRecordedHandle, handle, &alive)) return handle;
  return handle ^ (serial % kMostOwnNumbers + 1) << kOwnNumbers;  // block_table.cc uses the bits above for the kind
}

// Records `memory` as allocated.
void Record(Memory& memory, std::uint64_t handle, std::uint64_t bytes, const LibraryName& library) {
  const std::uint64_t serial = NextDriverSerial();
  memory.number = NumberFor(handle, serial);
  memory.bytes = bytes;
  PutEntry(KeyKind::kRecordedHandle, memory.number, EntryOf(memory, bytes));
  RecordDriverBlock({memory.call, memory.device, memory.number, bytes}, library, serial);
  NoteAllocatedBytes(memory.device, memory.call, bytes);
}

// Notes new memory with one handle. `library` is nullptr for imported memory, which is not recorded yet.
void Add(DriverCall call, std::uint64_t handle, int device, std::uint64_t bytes, const LibraryName* library) {
  Memory* memory = Claim();
  if (memory == nullptr) return RingCountDroppedAllocation(bytes);
  memory->call = call;
  memory->device = static_cast<std::int8_t>(device);
  memory->bytes = 0;
  if (!PutEntry(KeyKind::kHandle, handle, EntryOf(*memory, bytes))) {
    memory->holds.store(0, std::memory_order_release);
    return RingCountDroppedAllocation(bytes);
  }
  if (library != nullptr) Record(*memory, handle, bytes, *library);
}

// Removes one hold. If it was the last one, records the memory as freed.
void Drop(Memory& memory) {
  // Copies the fields first, because another thread may claim `memory` as soon as its last hold is gone.
  const std::uint64_t serial = NextDriverSerial(), number = memory.number, bytes = memory.bytes;
  const DriverCall call = memory.call;
  const int device = memory.device;  // NOLINT(bugprone-signed-char-misuse): not a character
  if (memory.holds.fetch_sub(1, std::memory_order_acq_rel) != 1 || bytes == 0) return;
  TableEntry recorded;
  TakeEntry(KeyKind::kRecordedHandle, number, &recorded);
  RecordDriverFree(number, device, serial);
  NoteFreedBytes(device, call, bytes);
}

}  // namespace

void ForgetPhysicalMemory() {
  for (Memory& memory : memories) {
    if (memory.holds.load(std::memory_order_relaxed) != 0) memory.holds.store(0, std::memory_order_relaxed);
  }
}

void NotePhysicalCreated(std::uint64_t handle, int device, std::uint64_t bytes, const LibraryName& library) {
  Add(DriverCall::kMemoryCreate, handle, device, bytes, &library);
}

void NotePhysicalImported(std::uint64_t handle, int device) { Add(DriverCall::kIpcOpen, handle, device, 0, nullptr); }

void NotePhysicalRetained(std::uint64_t handle, std::uint64_t address) {
  TableEntry entry;
  const bool known = FindEntry(KeyKind::kHandle, handle, &entry);
  if (!known && !FindEntry(KeyKind::kMapping, address, &entry)) return;
  Memory& memory = memories[entry.index];
  if (!known && !PutEntry(KeyKind::kHandle, handle, EntryOf(memory, 0))) return;
  memory.handles.fetch_add(1, std::memory_order_acq_rel);
  memory.holds.fetch_add(1, std::memory_order_acq_rel);
}

void NotePhysicalMapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle, const LibraryName& library) {
  TableEntry entry;
  if (!FindEntry(KeyKind::kHandle, handle, &entry)) return;
  Memory& memory = memories[entry.index];
  if (memory.bytes == 0) Record(memory, handle, bytes, library);
  if (PutEntry(KeyKind::kMapping, address, EntryOf(memory, bytes)))
    memory.holds.fetch_add(1, std::memory_order_acq_rel);
}

void NotePhysicalReleasing(std::uint64_t handle) {
  TableEntry entry;
  if (!FindEntry(KeyKind::kHandle, handle, &entry)) return;
  Memory& memory = memories[entry.index];
  if (memory.handles.fetch_sub(1, std::memory_order_acq_rel) == 1) TakeEntry(KeyKind::kHandle, handle, &entry);
  Drop(memory);
}

void NotePhysicalUnmapping(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t at = address; at < address + bytes;) {
    TableEntry entry{};
    const bool mapped = TakeEntry(KeyKind::kMapping, at, &entry);
    if (mapped) Drop(memories[entry.index]);
    at += mapped && entry.bytes != 0 ? entry.bytes : kGranularity;
  }
}

}  // namespace memoir
