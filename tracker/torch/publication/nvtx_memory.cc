#include "tracker/torch/publication/nvtx_memory.h"

#if __has_include(<nvtx3/nvToolsExtMem.h>)
#include <dlfcn.h>
#include <nvtx3/nvToolsExtMem.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "interpose/imports/nvtx_injection.h"

namespace memoir {
namespace {

constexpr char kNoTool[] =
    "publish=nvtx-memory: nothing is published, because no tool has set NVTX_INJECTION64_PATH; everything is recorded";
constexpr char kDomain[] = "Memoir";
constexpr char kHeapName[] = "PyTorch's caching allocator";
constexpr std::size_t kBatch = 64;

constinit nvtxDomainHandle_t domain = nullptr;
constinit char problem[1024] = "";

const char* Path() { return std::getenv("NVTX_INJECTION64_PATH"); }

// Returns true if the library at `path` is loaded, and is Memoir's own library, which follows NVTX's ranges.
bool IsOwn(const char* path) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool own = dlsym(library, "InitializeInjectionNvtx2") == reinterpret_cast<void*>(&InitializeInjectionNvtx2);
  dlclose(library);
  return own;
}

const char* Problem(const char* why) {
  const char* path = Path();
  std::snprintf(
      problem, sizeof problem,
      "publish=nvtx-memory: %s, which NVTX_INJECTION64_PATH names, %s; everything is recorded, and nothing is "
      "published",
      path == nullptr ? "" : path, why);
  return problem;
}

bool IsImplemented(std::size_t function) {
  const std::intptr_t slot = NVTX_EXT_MEM_VERSIONED_ID(nvtxExtMemSlots)[function + 1];
  return slot != NVTX_EXTENSION_DISABLED && slot != NVTX_EXTENSION_FRESH;
}

nvtxMemVirtualRangeDesc_t Describe(AddressRange range) {
  nvtxMemVirtualRangeDesc_t description{};
  description.size = range.bytes;
  description.ptr = reinterpret_cast<const void*>(range.address);
  return description;
}

// Calls a function of the tool. Exceptions of the tool must not reach torch.
template <class Call>
void CallTool(const Call& call) {
  try {
    call();
  } catch (...) {  // the tool has failed to process this call
  }
}

}  // namespace

const char* ListenerProblem() {
  const char* path = Path();
  return path == nullptr || *path == '\0' || IsOwn(path) ? kNoTool : nullptr;
}

const char* ListenToMemory() {
  if (const char* why = ListenerProblem(); why != nullptr) return why;
  NVTX_EXT_MEM_VERSIONED_ID(nvtxExtMemInitOnce)();
  const std::intptr_t state = NVTX_EXT_MEM_VERSIONED_ID(nvtxExtMemSlots)[0];
  if (state == NVTX_EXTENSION_INIT_FN_FAILED) return Problem("refuses the memory extension of NVTX");
  if (state == NVTX_EXTENSION_DISABLED) return Problem("knows no extension of NVTX");
  if (NVTX_VERSIONED_IDENTIFIER(nvtxExtGlobals1).injectionFnPtr == nullptr) return Problem("cannot be loaded");
  const std::size_t needed[] = {NVTX3EXT_CBID_nvtxMemHeapRegister, NVTX3EXT_CBID_nvtxMemHeapUnregister,
                                NVTX3EXT_CBID_nvtxMemRegionsRegister, NVTX3EXT_CBID_nvtxMemRegionsUnregister};
  if (!std::ranges::all_of(needed, &IsImplemented)) return Problem("does not take heaps and regions of NVTX");
  if (domain == nullptr) CallTool([] { domain = nvtxDomainCreateA(kDomain); });
  return nullptr;
}

HeapHandle RegisterHeap(AddressRange heap) {
  const nvtxMemVirtualRangeDesc_t range = Describe(heap);
  nvtxMemHeapDesc_t description{};
  description.extCompatID = NVTX_EXT_COMPATID_MEM;
  description.structSize = sizeof description;
  description.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  description.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  description.typeSpecificDescSize = sizeof range;
  description.typeSpecificDesc = &range;
  description.messageType = NVTX_MESSAGE_TYPE_ASCII;
  description.message.ascii = kHeapName;
  HeapHandle handle = nullptr;
  CallTool([&] { handle = nvtxMemHeapRegister(domain, &description); });
  return handle;
}

void UnregisterHeap(HeapHandle heap) {
  CallTool([&] { nvtxMemHeapUnregister(domain, static_cast<nvtxMemHeapHandle_t>(heap)); });
}

void RegisterRegions(HeapHandle heap, const AddressRange* regions, std::size_t count) {
  nvtxMemVirtualRangeDesc_t ranges[kBatch];
  for (std::size_t done = 0; done < count; done += kBatch) {
    const std::size_t some = std::min(kBatch, count - done);
    std::transform(regions + done, regions + done + some, ranges, &Describe);
    nvtxMemRegionsRegisterBatch_t batch{};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.heap = static_cast<nvtxMemHeapHandle_t>(heap);
    batch.regionCount = some;
    batch.regionDescElementSize = sizeof ranges[0];
    batch.regionDescElements = ranges;
    CallTool([&] { nvtxMemRegionsRegister(domain, &batch); });
  }
}

void UnregisterRegion(std::uint64_t address) {
  nvtxMemRegionRef_t region{};
  region.pointer = reinterpret_cast<const void*>(address);
  nvtxMemRegionsUnregisterBatch_t batch{};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  batch.refCount = 1;
  batch.refElementSize = sizeof region;
  batch.refElements = &region;
  CallTool([&] { nvtxMemRegionsUnregister(domain, &batch); });
}

}  // namespace memoir

#else

namespace memoir {

const char* ListenerProblem() {
  return "publish=nvtx-memory: this Memoir was built without NVIDIA's headers of NVTX's memory extension; everything "
         "is recorded, and nothing is published";
}
const char* ListenToMemory() { return ListenerProblem(); }
HeapHandle RegisterHeap(AddressRange) { return nullptr; }
void UnregisterHeap(HeapHandle) {}
void RegisterRegions(HeapHandle, const AddressRange*, std::size_t) {}
void UnregisterRegion(std::uint64_t) {}

}  // namespace memoir

#endif
