// One simulated device's memory: its budget, its addresses, and the blocks that live there.
//
//   total = other processes' + what nobody owns + context + blocks + physical memory that virtual.h handed out
//           + reserved bytes of pools + what libraries took + free
//
// Any thread; each device has one lock. Sizes are bytes.
#ifndef INTERPOSE_SIMCUDA_DEVICE_H_
#define INTERPOSE_SIMCUDA_DEVICE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "interpose/simcuda/address_space.h"
#include "interpose/simcuda/block_addresses.h"
#include "interpose/simcuda/contents.h"
#include "interpose/simcuda/mutex.h"
#include "interpose/simcuda/user_tables/profile.h"

namespace memoir::simcuda {

enum class BlockKind {
  kDevice,     // cudaMalloc
  kManaged,    // cudaMallocManaged: charged nothing, as it may live on the host
  kAddresses,  // cuMemAddressReserve: charged by what is mapped there
  kVariable,   // of a module: charged with the context
  kPool,       // cudaMallocAsync: charged by its pool
  kImported,   // cudaIpcOpenMemHandle: charged to the process that exported it
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // as rounded
  BlockKind kind = BlockKind::kDevice;
};

// Who holds what is charged to a device.
enum class Holder : std::uint8_t {
  kContext,
  kBlocks,     // cudaMalloc
  kMapped,     // cuMemCreate
  kPools,      // cudaMallocAsync
  kLibraries,  // NVIDIA's libraries, for themselves
};
inline constexpr std::size_t kHolders = 5;

struct MemoryInfo {
  std::uint64_t total = 0, used = 0, peak = 0;  // used: by this process; peak: with what nobody owns
  std::uint64_t others = 0;                     // by others, and by nobody

  std::uint64_t free() const { return total - used - others; }
};

class Device {
 public:
  // `contents` outlives the device.
  // `others`: what other processes hold of it.
  Device(int ordinal, const Profile& profile, Contents& contents, std::uint64_t others = 0,
         AddressOrder order = AddressOrder::kLinux);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Reserves the addresses; false, after one line that says why, when the process may not have them.
  bool ReserveAddresses();
  // Creates the context, once: from then on it is charged. False without addresses.
  bool Start();
  bool started() const { return started_.load(std::memory_order_acquire); }

  // Address of a new block, or 0 when the budget or the addresses do not suffice. Rounded up to `alignment`.
  std::uint64_t Allocate(std::uint64_t bytes, BlockKind kind, std::uint64_t alignment);
  // The block that begins there, if it is of one of the kinds; its contents are gone.
  bool Free(std::uint64_t address, BlockKind kind);
  // The block around an address.
  std::optional<Block> BlockAt(std::uint64_t address) const;

  // Memory without an address: physical memory, reserved bytes of a pool.
  bool Charge(std::uint64_t bytes, Holder holder);
  void Refund(std::uint64_t bytes, Holder holder);

  MemoryInfo Info() const;
  bool Contains(std::uint64_t address) const;
  int ordinal() const { return ordinal_; }
  Contents& contents() { return contents_; }

 private:
  bool ChargeLocked(std::uint64_t bytes, Holder holder);
  void RefundLocked(std::uint64_t bytes, Holder holder);
  void Report(bool new_peak) const;

  const int ordinal_;
  const std::uint64_t total_, context_, unowned_, others_;
  const AddressOrder order_;
  Contents& contents_;
  std::atomic<bool> started_{false};
  mutable Mutex mutex_;
  bool refused_ = false;  // addresses: said once
  AddressSpace addresses_;
  std::optional<BlockAddresses> block_addresses_;  // cudaMalloc's; none where addresses are scarce
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t used_ = 0, peak_ = 0;
  std::array<std::uint64_t, kHolders> held_{};  // they add up to used_
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_DEVICE_H_
