#include "tools/analyze/accounting/memory_owners.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "tools/analyze/grouping/driver_holdings.h"

namespace memoir {
namespace {

// Bytes of torch's allocator on a device.
struct TorchHoldings {
  std::uint64_t allocated = 0;         // bytes of allocated blocks in the default pool
  std::uint64_t waiting = 0;           // bytes of freed blocks in the default pool that a stream may still use
  std::uint64_t reserved = 0;          // reserved bytes of the default pool
  std::uint64_t private_reserved = 0;  // reserved bytes of private pools
  std::uint64_t blocks = 0;            // number of allocated blocks
  absl::flat_hash_set<std::uint64_t> addresses;  // of allocated blocks; empty for a device with a caching allocator
};

// Returns the reserved piece that contains the address. nullptr if the address is not reserved.
const ReservedPiece* PieceAt(const DeviceMemory& memory, std::uint64_t address) {
  const auto& pieces = memory.reserved_pieces();
  auto at = pieces.upper_bound(address);
  if (at == pieces.begin()) return nullptr;
  --at;
  return address - at->first < at->second.bytes ? &at->second : nullptr;
}

bool IsPrivate(std::uint32_t graph, std::uint32_t user) { return graph != 0 || user != 0; }

TorchHoldings TakeTorch(const ReplayState& state, DeviceId device) {
  TorchHoldings held;
  const DeviceMemory& memory = state.memory(device);
  state.ForEachLiveBlock([&](const Block& block) {
    if (block.device != device || IsPrivate(block.pool_graph, block.pool_user)) return;
    held.allocated += block.bytes;
    ++held.blocks;
    if (!memory.caching()) held.addresses.insert(block.address);
  });
  memory.ForEachWaiting([&](std::uint64_t address, std::uint64_t bytes) {
    const ReservedPiece* piece = PieceAt(memory, address);
    if (piece == nullptr || !IsPrivate(piece->pool_graph, piece->pool_user)) held.waiting += bytes;
  });
  for (const auto& [address, piece] : memory.reserved_pieces()) {
    (IsPrivate(piece.pool_graph, piece.pool_user) ? held.private_reserved : held.reserved) += piece.bytes;
  }
  return held;
}

BalancePart PartOf(DriverRole role) {
  switch (role) {
    case DriverRole::kNccl:
      return BalancePart::kNccl;
    case DriverRole::kLibrary:
      return BalancePart::kLibrary;
    case DriverRole::kContext:
      return BalancePart::kContext;
    case DriverRole::kCode:
      return BalancePart::kCode;
    default:
      return BalancePart::kForeign;
  }
}

// Sums the driver allocations of a device into rows of a DeviceBalance.
class DriverRows {
 public:
  DriverRows(const ReplayState& state, DeviceId device, const TorchHoldings& torch, DeviceBalance& balance)
      : state_(state), device_(device), torch_(torch), balance_(balance) {
    state.driver().ForEach([this](const DriverBlock& block) {
      if (block.device == device_) Take(block);
    });
  }
  std::vector<BalanceRow> TakeRows() {
    std::vector<BalanceRow> rows;
    for (auto& [key, row] : rows_) rows.push_back(std::move(row));
    return rows;
  }
  std::uint64_t pool_bytes() const { return pool_bytes_; }
  std::uint64_t pool_blocks() const { return pool_blocks_; }

 private:
  void Take(const DriverBlock& block);
  // Returns true if torch's allocator holds the block although another library allocated it: for a MemPool, or with a
  // pluggable allocator.
  bool IsTorchs(const DriverBlock& block) const {
    if (block.call != v1::MALLOC && block.call != v1::MALLOC_ASYNC) return false;
    return PieceAt(state_.memory(device_), block.address) != nullptr || torch_.addresses.contains(block.address);
  }

  const ReplayState& state_;
  const DeviceId device_;
  const TorchHoldings& torch_;
  DeviceBalance& balance_;
  std::map<std::pair<BalancePart, std::string>, BalanceRow> rows_;
  std::map<std::pair<std::string, v1::DriverCall>, SeparateRow> beside_;
  std::uint64_t pool_bytes_ = 0;
  std::uint64_t pool_blocks_ = 0;
};

void AddBeside(const ReplayState& state, const DriverBlock& block, std::vector<SeparateRow>& rows) {
  const std::string name = HolderName(DriverRole::kForeign, state.dictionary().text(block.library));
  const std::string call(ToString(block.call));
  auto row = std::ranges::find_if(rows, [&](const SeparateRow& one) { return one.name == name && one.call == call; });
  if (row == rows.end()) row = rows.insert(rows.end(), {name, call, 0, 0});
  row->bytes += block.bytes;
  ++row->blocks;
}

void DriverRows::Take(const DriverBlock& block) {
  const std::string_view library = state_.dictionary().text(block.library);
  const DriverRole role = RoleOf(block.call, library);
  if (role == DriverRole::kTorchAllocator) {
    balance_.torch_driver_bytes += block.bytes;
    return;
  }
  if (role == DriverRole::kManaged || role == DriverRole::kOfAnother) return AddBeside(state_, block, balance_.beside);
  if (IsTorchs(block)) {
    balance_.in_mem_pools += block.bytes;
    return;
  }
  if (role == DriverRole::kMemoryPool) {
    pool_bytes_ += block.bytes;
    ++pool_blocks_;
    return;
  }
  const BalancePart part = PartOf(role);
  const std::string name = HolderName(role, library);
  BalanceRow& row = rows_.try_emplace({part, name}, BalanceRow{part, name, 0, 0}).first->second;
  row.bytes += block.bytes;
  ++row.blocks;
}

void AddTorch(const DeviceMemory& memory, const TorchHoldings& torch, DeviceBalance& balance) {
  const auto add = [&](BalancePart part, const char* name, std::uint64_t bytes, std::uint64_t blocks) {
    if (bytes > 0) balance.rows.push_back({part, name, bytes, blocks});
  };
  if (!memory.caching()) {
    add(BalancePart::kWithoutCache, "torch, without its caching allocator", torch.allocated, torch.blocks);
    return;
  }
  const std::uint64_t used = torch.allocated + torch.waiting;
  const std::uint64_t taken = balance.torch_driver_bytes + balance.in_mem_pools;
  balance.torch_reserved = memory.reserved().all;
  add(BalancePart::kAllocated, "torch: allocated", torch.allocated, torch.blocks);
  add(BalancePart::kWaiting, "torch: freed, waiting (record_stream)", torch.waiting, 0);
  add(BalancePart::kCache, "torch: cache (reserved, free)", torch.reserved - std::min(torch.reserved, used), 0);
  add(BalancePart::kPrivatePools, "torch: private pools (graphs, MemPools)", torch.private_reserved, 0);
  if (taken > balance.torch_reserved)
    add(BalancePart::kInNoSegment, "torch: taken, in no segment", taken - balance.torch_reserved, 0);
}

}  // namespace

void TakeHoldings(const ReplayState& state, DeviceId device, DeviceBalance& balance) {
  balance.rows.clear();
  balance.beside.clear();
  balance.torch_driver_bytes = balance.torch_reserved = balance.in_mem_pools = balance.torch_in_pools = balance.sum = 0;
  const TorchHoldings torch = TakeTorch(state, device);
  DriverRows driver(state, device, torch, balance);
  std::vector<BalanceRow> rows = driver.TakeRows();
  std::uint64_t in_pools = driver.pool_bytes();
  AddTorch(state.memory(device), torch, balance);
  // The reserved bytes of cudaMallocAsync's pools include torch's own allocations from them. So torch's blocks have no
  // separate row if they may come from these pools.
  if (balance.pool_bytes && *balance.pool_bytes > 0) {
    if (!balance.rows.empty() && balance.rows.front().part == BalancePart::kWithoutCache &&
        torch.allocated + in_pools <= *balance.pool_bytes) {
      balance.torch_in_pools = torch.allocated;
      balance.rows.clear();
    }
    in_pools = *balance.pool_bytes;
  }
  if (in_pools > 0)
    rows.push_back(
        {BalancePart::kMemoryPools, "cudaMallocAsync pools", in_pools, balance.pool_bytes ? 0 : driver.pool_blocks()});
  if (balance.other_processes_bytes.value_or(0) > 0)
    rows.push_back({BalancePart::kOtherProcesses, "other processes", *balance.other_processes_bytes, 0});
  std::ranges::stable_sort(rows, std::ranges::greater(), &BalanceRow::bytes);
  balance.rows.insert(balance.rows.end(), rows.begin(), rows.end());
  for (const BalanceRow& row : balance.rows) balance.sum += row.bytes;
  if (balance.used) balance.unexplained = static_cast<std::int64_t>(*balance.used - balance.sum);
  std::ranges::stable_sort(balance.beside, std::ranges::greater(), &SeparateRow::bytes);
}

HostBalance TakeHostBalance(const ReplayState& state) {
  HostBalance host;
  state.ForEachLiveBlock([&](const Block& block) {
    const std::string& type = state.dictionary().device(block.device).type;
    if (type == "cpu") host.cpu_bytes += block.bytes;
    if (type != "pinned") return;
    host.pinned_asked = host.pinned_asked.value_or(0) + block.bytes;
    ++host.pinned_blocks;
  });
  state.driver().ForEach([&](const DriverBlock& block) {
    if (block.call != v1::HOST_ALLOCATE && block.call != v1::HOST_REGISTER) return;
    host.pinned_taken += block.bytes;
    AddBeside(state, block, host.pinned);
  });
  std::ranges::stable_sort(host.pinned, std::ranges::greater(), &SeparateRow::bytes);
  return host;
}

}  // namespace memoir
