#include "interpose/cuda/driver_blocks.h"

#include <atomic>
#include <cstddef>

#include "interpose/cuda/device_samples.h"
#include "interpose/ring/ring.h"

namespace memoir {
namespace {

// Records that a block, which is no longer in the table, was freed.
void Free(std::uint64_t address, const TableEntry& entry, std::uint64_t serial) {
  RecordDriverFree(address, entry.device, serial);
  NoteFreedBytes(entry.device, entry.call, entry.bytes);
}

// Tags of contexts that the program created. If the program creates more than kMostContexts contexts, the further ones
// are treated as primary contexts.
constexpr std::size_t kMostContexts = 32;
constinit std::atomic<std::uint32_t> made[kMostContexts]{};
constinit std::atomic<std::uint16_t> marks{0};  // the newest mark (ContextEnd::mark)

// Returns the tag of a context: 32 bits that identify the context. 0 without a context. Leaves out the low four bits of
// the handle, which are equal in all handles, because contexts are at least 16 bytes apart.
std::uint32_t TagOf(std::uint64_t context) { return static_cast<std::uint32_t>(context >> 4); }

// Replaces one tag `from` in `made` by `to`. 0 stands for an unused element. False if `made` does not contain `from`.
bool Replace(std::uint32_t from, std::uint32_t to) {
  for (auto& tag : made) {
    std::uint32_t expected = from;
    if (tag.compare_exchange_strong(expected, to, std::memory_order_acq_rel)) return true;
  }
  return false;
}

// Returns true if the tag belongs to a context that the program created.
bool IsMade(std::uint32_t tag) {
  for (const auto& known : made) {
    if (tag != 0 && known.load(std::memory_order_acquire) == tag) return true;
  }
  return false;
}

// Whether the end of a context frees the block `entry`. `of`: the ContextEnd.
bool EndsWith(const TableEntry& entry, const void* of) {
  const auto& context = *static_cast<const ContextEnd*>(of);
  if (context.tag != 0) return entry.index == context.tag;
  return (entry.device == context.device || entry.home == context.device) && !IsMade(entry.index);
}

// Marks the blocks that the end of the context frees.
ContextEnd Ending(int device, std::uint32_t tag) {
  ContextEnd context{device, tag, 0, NextDriverSerial()};
  while (context.mark == 0) context.mark = static_cast<std::uint16_t>(marks.fetch_add(1) + 1);
  MarkBlocks(context.mark, &EndsWith, &context);
  return context;
}

}  // namespace

void NoteBlockAllocated(const DriverBlock& block, const LibraryName& library) {
  TableEntry stale;
  if (block.call == DriverCall::kIpcOpen && FindEntry(KeyKind::kBlock, block.address, &stale) &&
      stale.call == DriverCall::kIpcOpen && AddBlockHold(block.address))
    return;
  if (TakeEntry(KeyKind::kBlock, block.address, &stale)) Free(block.address, stale, NextDriverSerial());
  const std::uint64_t serial = NextDriverSerial();
  const TableEntry entry{block.bytes, TagOf(block.context), block.call, static_cast<std::int8_t>(block.device),
                         static_cast<std::int8_t>(block.home)};
  if (!PutEntry(KeyKind::kBlock, block.address, entry)) return RingCountDroppedAllocation(block.bytes);
  RecordDriverBlock(block, library, serial);
  NoteAllocatedBytes(block.device, block.call, block.bytes);
}

BlockFree BeginBlockFree(std::uint64_t address) {
  BlockFree block{};
  block.address = address;
  block.held = RemoveBlockHold(address);
  if (block.held) return block;
  block.known = TakeEntry(KeyKind::kBlock, address, &block.entry);
  if (block.known) block.serial = NextDriverSerial();
  return block;
}

void EndBlockFree(const BlockFree& block, bool succeeded) {
  if (block.held && !succeeded) AddBlockHold(block.address);
  if (!block.known) return;
  if (succeeded) {
    Free(block.address, block.entry, block.serial);
  } else {
    PutEntry(KeyKind::kBlock, block.address, block.entry);
  }
}

void NoteContextMade(std::uint64_t context) { Replace(0, TagOf(context)); }

ContextEnd BeginPrimaryContextEnd(int device) { return Ending(device, 0); }

ContextEnd BeginContextEnd(std::uint64_t context) { return Ending(-1, TagOf(context)); }

void FinishContextEnd(const ContextEnd& context, bool ended) {
  TakeMarkedBlocks(context.mark, context.serial, ended ? &Free : nullptr);
  if (ended && context.tag != 0) Replace(context.tag, 0);
}

}  // namespace memoir
