// Implements kernel_times.h in a build without CUPTI's headers.
#include <atomic>

#include "interpose/system/tick.h"
#include "tracker/cupti/kernel_times.h"

namespace memoir {
namespace {

constinit std::atomic<std::uint64_t> since{0};  // tick at which the times were requested; 0: not requested

}  // namespace

void PrepareKernelTimes(std::uint64_t) { since.store(0); }
void RequestKernelTimes() { since.store(Tick()); }
void StartKernelTimes() {}
void EndKernelTimes() {}
void FlushKernelTimes() {}
bool KernelTimesAreRecorded() { return false; }
std::string KernelTimesProblem(std::uint64_t* since_tick) {
  *since_tick = since.load();
  return *since_tick == 0 ? "" : "this Memoir was built without CUPTI's headers";
}

}  // namespace memoir
