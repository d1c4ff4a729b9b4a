#include "tracker/modules/module_calls.h"

#include <unistd.h>

#include <new>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::uint32_t kLooks = 16;

void Record(RecordKind kind, std::uint32_t module) {
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(ModuleRecord), OnEmptyPool::kWait);
  if (place == nullptr) return;
  new (place) ModuleRecord{
      .header = {.words = sizeof(ModuleRecord) / 8, .kind = kind, .flags = 0, .depth = RingDepth(slot), .count = 0},
      .tick = Tick(),
      .module = module,
      .reserved = 0};
  RingCommit(slot, sizeof(ModuleRecord));
}

}  // namespace

constinit ModuleTables module_tables{};

void ForgetModules() {
  static pid_t owner = 0;
  const bool forked = owner != 0 && owner != getpid();
  owner = getpid();
  module_tables.modules.Clear(forked);
  module_tables.parameters.Clear(forked);
  module_tables.holdings.Clear(forked);
  module_tables.looks_left.store(kLooks, std::memory_order_relaxed);
  module_tables.reread_requested.store(false, std::memory_order_relaxed);
  module_tables.times_forgotten.fetch_add(1, std::memory_order_release);
}

void RecordModuleEnter(std::uint32_t module) {
  if (RangeEpoch() != 0) Record(RecordKind::kModuleEnter, module);
}

void RecordModuleExit(std::uint32_t module) {
  if (RangeEpoch() != 0) Record(RecordKind::kModuleExit, module);
}

void RecordGradientOf(const void* parameter) {
  const std::uint32_t module = module_tables.parameters.Find(reinterpret_cast<std::uint64_t>(parameter));
  if (module != AddressTable::kUnknown && module != 0) return Record(RecordKind::kModuleEnter, module);
  // The table lacks this parameter: it was added after the tensors of its module were read, or it belongs to no module.
  // So the next module call must read the tensors again. `looks_left` limits the number of such requests.
  const std::uint32_t left = module_tables.looks_left.load(std::memory_order_relaxed);
  if (left == 0) return;
  module_tables.looks_left.store(left - 1, std::memory_order_relaxed);
  module_tables.reread_requested.store(true, std::memory_order_relaxed);
}

}  // namespace memoir
