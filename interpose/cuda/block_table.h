// A table of live driver allocations (blocks) by address. A free is recorded only if the table contains the freed
// block. The entry also has the device of the block. The table has a fixed size and no locks. From an allocation to its
// free only one thread at a time uses the address, so two threads never change one entry at the same time.
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_BLOCK_TABLE_H_
#define INTERPOSE_CUDA_BLOCK_TABLE_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// The kind of a key. The key of an entry is a kind and a number. Kinds keep equal numbers apart: a handle of physical
// memory may be any number, and a mapping may begin at a block's address. kRecordedHandle is the id under which
// physical memory is recorded (physical_memory.h).
enum class KeyKind : std::uint8_t { kBlock = 1, kHandle = 2, kMapping = 3, kRecordedHandle = 4 };

struct TableEntry {
  std::uint64_t bytes;
  std::uint32_t index;  // kBlock: tag of the context (driver_blocks.cc), 0: none; others: index of physical memory
  DriverCall call;
  std::int8_t device;     // -1 for host memory
  std::int8_t home = -1;  // kBlock: the device whose context was current at the allocation; -1: unknown
};

// Empties the table. Call it between recordings. False if the system has no memory for the table.
bool ClearBlockTable();

// Adds an entry, or replaces the entry that the key has. False if there is no room; the caller then counts the lost
// block.
bool PutEntry(KeyKind kind, std::uint64_t number, const TableEntry& entry);
// Copies the key's entry into `entry`. False if the key has no entry.
bool FindEntry(KeyKind kind, std::uint64_t number, TableEntry* entry);
// Removes the key's entry from the table, and copies it into `entry`. False if the key has no entry.
bool TakeEntry(KeyKind kind, std::uint64_t number, TableEntry* entry);

// The program may open the same memory of another process several times (cudaIpcOpenMemHandle). The block then has one
// hold for each opening.
//
// Adds a hold to the block at `address`. False if the table has no such block.
bool AddBlockHold(std::uint64_t address);
// Removes a hold of the block at `address`. False if the table has no such block, or if the block has only one hold.
bool RemoveBlockHold(std::uint64_t address);

// Marks every block for which `is_meant(entry, of)` is true; `of` is any data that `is_meant` needs. If a marked block
// is freed, a later block at the same address is not marked. `mark` must not be 0.
void MarkBlocks(std::uint16_t mark, bool (*is_meant)(const TableEntry& entry, const void* of), const void* of);
// Removes every block with this mark from the table, and passes the block and `serial` to `visit`. If `visit` is
// nullptr, only removes the marks.
void TakeMarkedBlocks(std::uint16_t mark, std::uint64_t serial,
                      void (*visit)(std::uint64_t address, const TableEntry& entry, std::uint64_t serial));

}  // namespace memoir

#endif  // INTERPOSE_CUDA_BLOCK_TABLE_H_
