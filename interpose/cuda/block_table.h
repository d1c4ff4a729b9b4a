// What the driver has given and not got back, by address: so that a free is recorded on the device that its block is
// of, and only if the block was recorded. A fixed table without locks; an address belongs to whoever was given it until
// it is given back, so no two threads are at one entry.
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_BLOCK_TABLE_H_
#define INTERPOSE_CUDA_BLOCK_TABLE_H_

#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

// What a number names. Handles of physical memory may be any number, and mappings begin where blocks do.
enum class KeyKind : std::uint8_t { kBlock = 1, kHandle = 2, kMapping = 3, kRecordedHandle = 4 };

struct TableEntry {
  std::uint64_t bytes;
  std::uint32_t index;  // of kHandle and kMapping: into the table of physical memory; of kBlock: a context's tag, or 0
  DriverCall call;
  std::int8_t device;     // -1: the host
  std::int8_t home = -1;  // of kBlock: the device whose context was current; -1: not known
};

// Empty from here on. Between recordings. False: the system gives no memory for it.
bool ClearBlockTable();

// False when the table is full there: the caller counts what is lost.
bool PutEntry(KeyKind kind, std::uint64_t number, const TableEntry& entry);
bool FindEntry(KeyKind kind, std::uint64_t number, TableEntry* entry);
bool TakeEntry(KeyKind kind, std::uint64_t number, TableEntry* entry);

// Counts another hold on a block that is there, and one less; false where there is none to count.
bool HoldBlockMore(std::uint64_t address);
bool HoldBlockLess(std::uint64_t address);

// Marks every block that `is_meant`; what is given at such an address meanwhile is another block and not marked.
// `mark`: not 0. Then takes the marked ones out, and says each to `visit`, or with nullptr leaves them.
void MarkBlocks(std::uint16_t mark, bool (*is_meant)(const TableEntry& entry, const void* of), const void* of);
void TakeMarkedBlocks(std::uint16_t mark, std::uint64_t serial,
                      void (*visit)(std::uint64_t address, const TableEntry& entry, std::uint64_t serial));

}  // namespace memoir

#endif  // INTERPOSE_CUDA_BLOCK_TABLE_H_
