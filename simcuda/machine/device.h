// One simulated device's memory: its budget, its addresses, and its blocks. A block is the memory that one call of CUDA
// allocates.
//
//   total = other processes' + unowned + context + blocks of cudaMalloc + physical memory of cuMemCreate
//           + reserved bytes of pools + charges of libraries + free
//
// Unowned bytes belong to no process, and are not free.
//
// Any thread; each device has one lock. Sizes are bytes.
#ifndef SIMCUDA_MACHINE_DEVICE_H_
#define SIMCUDA_MACHINE_DEVICE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "simcuda/addresses/address_space.h"
#include "simcuda/addresses/block_addresses.h"
#include "simcuda/contents/contents.h"
#include "simcuda/process/mutex.h"
#include "simcuda/user_tables/card_profile.h"

namespace memoir::simcuda {

enum class BlockKind {
  kDevice,     // cudaMalloc
  kManaged,    // cudaMallocManaged: not charged, because it may be on the host
  kAddresses,  // cuMemAddressReserve: the physical memory of cuMemCreate is charged instead
  kVariable,   // a variable of a CUDA module: charged with the context
  kPool,       // cudaMallocAsync: its pool is charged
  kImported,   // cudaIpcOpenMemHandle: the exporting process is charged
};

struct DeviceBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // rounded up
  BlockKind kind = BlockKind::kDevice;
};

// The users of a device's memory in this process.
enum class BudgetHolder : std::uint8_t {
  kContext,
  kBlocks,     // cudaMalloc
  kMapped,     // cuMemCreate
  kPools,      // cudaMallocAsync
  kLibraries,  // NVIDIA's libraries, for their own use
};
inline constexpr std::size_t kHolders = 5;

struct MemoryInfo {
  std::uint64_t total = 0, used = 0, peak = 0;  // used: by this process; peak: highest sum of used and unowned
  std::uint64_t others = 0;                     // used by other processes, plus unowned

  std::uint64_t free() const { return total - used - others; }
};

class Device {
 public:
  // `contents` must outlive the device. `others`: bytes of the device that other processes use.
  Device(int ordinal, const CardProfile& profile, Contents& contents, std::uint64_t others = 0,
         AddressOrder order = AddressOrder::kLinux);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Reserves the addresses. On failure prints one line with the cause and returns false.
  bool ReserveAddresses();
  // Creates the context at the first call, and charges it. False if the addresses cannot be reserved, or the context
  // does not fit.
  bool Start();
  bool started() const { return started_.load(std::memory_order_acquire); }

  // Returns the address of a new block, whose size is rounded up to `alignment`. 0 if the budget or the addresses do
  // not suffice.
  std::uint64_t Allocate(std::uint64_t bytes, BlockKind kind, std::uint64_t alignment);
  // Frees the block that begins at `address`, if it has this kind. Its contents are lost.
  bool Free(std::uint64_t address, BlockKind kind);
  // Returns the block around an address. nullopt if no block is there.
  std::optional<DeviceBlock> BlockAt(std::uint64_t address) const;

  // Charges memory without an address: physical memory, or bytes that a pool reserves.
  bool Charge(std::uint64_t bytes, BudgetHolder holder);
  void Refund(std::uint64_t bytes, BudgetHolder holder);

  MemoryInfo Info() const;
  bool Contains(std::uint64_t address) const;
  int ordinal() const { return ordinal_; }
  Contents& contents() { return contents_; }

 private:
  bool ChargeLocked(std::uint64_t bytes, BudgetHolder holder);
  void RefundLocked(std::uint64_t bytes, BudgetHolder holder);
  void Report(bool new_peak) const;

  const int ordinal_;
  const std::uint64_t total_, context_, unowned_, others_;
  const AddressOrder order_;
  Contents& contents_;
  std::atomic<bool> started_{false};
  mutable Mutex mutex_;
  bool refused_ = false;  // the addresses were refused, and the cause was printed
  AddressSpace addresses_;
  std::optional<BlockAddresses> block_addresses_;  // for cudaMalloc; empty if addresses are scarce
  std::map<std::uint64_t, DeviceBlock> blocks_;
  std::uint64_t used_ = 0, peak_ = 0;
  std::array<std::uint64_t, kHolders> held_{};  // by BudgetHolder; the sum is used_
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_DEVICE_H_
