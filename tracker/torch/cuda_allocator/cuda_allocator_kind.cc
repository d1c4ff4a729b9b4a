#include "tracker/torch/cuda_allocator/cuda_allocator_kind.h"

#ifdef MEMOIR_TORCH_HAS_CUDA

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tracker/torch/cuda_allocator/device_level_hook.h"

namespace memoir {
namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using Find = CUDAAllocator* (*)();

// Each line is written only once, before the pointer to it is set.
constinit char device_level_line[256] = "";
constinit char nothing_line[256] = "";
constinit std::atomic<const char*> at_device_level{nullptr};
constinit std::atomic<const char*> why_nothing{nullptr};
// True if the program may switch the cache on: the allocator is torch's own, and the environment does not have
// PYTORCH_NO_CUDA_MEMORY_CACHING.
constinit bool may_report_later = false;
constinit Find find_allocator = nullptr;
constinit std::atomic<bool> is_uncached{false};  // true: the environment has PYTORCH_NO_CUDA_MEMORY_CACHING

template <class Allocator>
bool IsEnabled(Allocator& allocator) {
  if constexpr (requires { allocator.isEnabled(); }) {
    return allocator.isEnabled();
  } else {
    return true;
  }
}

// Returns the reason why the allocator does not report blocks: it is not torch's own, or its cache is off. Empty if it
// reports blocks.
std::string WhyItReportsNoBlocks(CUDAAllocator& allocator) {
  if (const auto name = allocator.name(); name != "native") return "torch's allocator is " + std::string(name);
  return !is_uncached.load() && IsEnabled(allocator) ? "" : "the cache of torch's allocator is switched off";
}

// Returns true if the allocator now reports its blocks, although it did not when the device level hook was installed.
// Called at each allocation.
bool ReportsBlocks() {
  if (!may_report_later) return false;
  CUDAAllocator* allocator = find_allocator();
  return allocator != nullptr && IsEnabled(*allocator);
}

void WriteOnce(std::atomic<const char*>* line_pointer, char (&line)[256], const char* format, const std::string& why) {
  if (line_pointer->load(std::memory_order_relaxed) != nullptr) return;
  std::snprintf(line, sizeof line, format, why.c_str());
  line_pointer->store(line, std::memory_order_release);
}

}  // namespace

void LookForCachingVariable() { is_uncached.store(std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != nullptr); }

CudaRecording ChooseCudaRecording(Find find) {
  CUDAAllocator& allocator = *find();
  const std::string why = WhyItReportsNoBlocks(allocator);
  if (why.empty()) return CudaRecording::kBlocks;
  find_allocator = find;
  may_report_later = allocator.name() == "native" && !is_uncached.load();
  if (!InstallDeviceLevelHook(&allocator, &ReportsBlocks)) {
    WriteOnce(&why_nothing, nothing_line, "%s, which does not report its blocks", why);
    return CudaRecording::kNothing;
  }
  WriteOnce(
      &at_device_level, device_level_line,
      "CUDA memory is recorded at device level: %s, which does not report its blocks; allocations have operator and "
      "module, but there is no active and no reserved memory",
      why);
  return CudaRecording::kDeviceLevel;
}

const char* WhyCudaIsNotRecorded() { return why_nothing.load(std::memory_order_acquire); }
const char* CudaAtDeviceLevel() { return at_device_level.load(std::memory_order_acquire); }

}  // namespace memoir

#endif  // MEMOIR_TORCH_HAS_CUDA
