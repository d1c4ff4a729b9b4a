#include "simcuda/kernels/kernels.h"

#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {
namespace {

// A CUDA module has many small variables, which share pages. So variables are not charged separately; the charge of the
// context includes them.
constexpr std::uint64_t kVariableAlignment = 256;

struct Variable {
  std::size_t bytes = 0;
  std::map<int, std::uint64_t> addresses;  // by device
};

struct Registry {
  Mutex mutex;
  std::deque<Kernel> kernels;  // a kernel's address is its handle
  std::deque<std::string> names;
  std::unordered_map<const void*, Kernel*> by_host;
  std::unordered_map<const void*, Variable> variables;
  Kernel unknown{"(unknown)"};
  std::atomic<std::uint64_t> launches{0};
};

// Created at the first registration, before main. Never destroyed, because kernels may be launched until the process
// ends.
constinit LazyObject<Registry> registry;

Registry& Known() { return registry.Get(); }

}  // namespace

void RegisterKernel(const void* host, const char* name) {
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  Kernel*& slot = known.by_host[host];
  if (slot == nullptr) slot = &known.kernels.emplace_back(name);
}

Kernel& FindKernel(const void* host) {
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  const auto found = known.by_host.find(host);
  return found == known.by_host.end() ? known.unknown : *found->second;
}

Kernel& NewKernel(const std::string& name, std::optional<KernelParameters> parameters) {
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  return known.kernels.emplace_back(known.names.emplace_back(name).c_str(), std::move(parameters));
}

void CountLaunch(Kernel& kernel) {
  kernel.launches.fetch_add(1, std::memory_order_relaxed);
  Known().launches.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t LaunchesInAll() { return Known().launches.load(std::memory_order_relaxed); }

std::vector<std::pair<std::uint64_t, std::string>> LaunchedKernels() {
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  std::vector<std::pair<std::uint64_t, std::string>> launched;
  for (const Kernel& kernel : known.kernels) {
    if (const std::uint64_t launches = kernel.launches.load(); launches > 0)
      launched.emplace_back(launches, kernel.name);
  }
  if (const std::uint64_t launches = known.unknown.launches.load(); launches > 0)
    launched.emplace_back(launches, known.unknown.name);
  return launched;
}

void RegisterVariable(const void* host, std::size_t bytes) {
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  known.variables[host].bytes = bytes;
}

std::uint64_t VariableAddress(const void* host, int device) {
  Device& owner = TheMachine().device(device);
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  const auto found = known.variables.find(host);
  if (found == known.variables.end()) return 0;
  std::uint64_t& address = found->second.addresses[device];
  if (address == 0) {
    address = owner.Allocate(found->second.bytes, BlockKind::kVariable, kVariableAlignment);
  }
  return address;
}

std::size_t VariableBytes(const void* host) {
  Registry& known = Known();
  const std::lock_guard lock(known.mutex);
  const auto found = known.variables.find(host);
  return found == known.variables.end() ? 0 : found->second.bytes;
}

}  // namespace memoir::simcuda
