// A tool that listens to NVTX's memory extension, in the place of compute-sanitizer: it keeps the heaps and regions
// that a process has, counts what contradicts itself, and writes both out when it is asked, and at the end into the
// file that NVTX_LISTENER_OUTPUT names. Its types are NVIDIA's headers'. Compiled deaf it knows ranges of NVTX alone.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtMem.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

// nvtxTypes.h comes with the implementation alone.
using NvtxTable = const void* (*)(std::uint32_t id);
#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int InitializeInjectionNvtx2(NvtxTable) { return 1; }

#ifndef MEMOIR_LISTENER_IS_DEAF
namespace {

using Regions = std::map<std::uintptr_t, std::size_t>;
struct Heap {
  std::uintptr_t begin;
  std::size_t bytes;
  Regions regions;
};

struct Listener {
  std::mutex mutex;
  std::map<std::uintptr_t, Heap> heaps;  // by their handle
  std::uintptr_t next_handle = 0x1000;
  std::map<std::string, std::uint64_t> counts;  // of calls, and of what was wrong with them
  int process = getpid();

  void Wrong(const char* what) { ++counts[std::string("wrong: ") + what]; }
  void Call(const char* what) {
    ++counts[what];
    if (getpid() != process) ++counts["in a forked child"];
  }
};
Listener& listener = *new Listener;  // never freed: calls come until the end

nvtxMemHeapHandle_t RegisterHeap(nvtxDomainHandle_t, nvtxMemHeapDesc_t const* desc) {
  const std::lock_guard lock(listener.mutex);
  listener.Call("heaps registered");
  if (desc->extCompatID != NVTX_EXT_COMPATID_MEM || desc->structSize != sizeof *desc) listener.Wrong("structure");
  if (desc->usage != NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR) listener.Wrong("usage");
  if (desc->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS) listener.Wrong("type");
  if (desc->typeSpecificDescSize != sizeof(nvtxMemVirtualRangeDesc_t)) listener.Wrong("size of the description");
  const auto& range = *static_cast<const nvtxMemVirtualRangeDesc_t*>(desc->typeSpecificDesc);
  const Heap heap{reinterpret_cast<std::uintptr_t>(range.ptr), range.size, {}};
  for (const auto& [handle, other] : listener.heaps) {
    if (heap.begin < other.begin + other.bytes && other.begin < heap.begin + heap.bytes)
      listener.Wrong("heap overlaps");
  }
  const std::uintptr_t handle = listener.next_handle++;
  listener.heaps[handle] = heap;
  return reinterpret_cast<nvtxMemHeapHandle_t>(handle);
}

void UnregisterHeap(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap) {
  const std::lock_guard lock(listener.mutex);
  listener.Call("heaps unregistered");
  if (listener.heaps.erase(reinterpret_cast<std::uintptr_t>(heap)) == 0) listener.Wrong("heap is not known");
}

void AddRegion(Heap& heap, const nvtxMemVirtualRangeDesc_t& range) {
  const auto begin = reinterpret_cast<std::uintptr_t>(range.ptr);
  if (begin < heap.begin || begin + range.size > heap.begin + heap.bytes) listener.Wrong("region outside of its heap");
  const auto after = heap.regions.lower_bound(begin);
  if (after != heap.regions.end() && after->first < begin + range.size) listener.Wrong("region overlaps");
  if (after != heap.regions.begin() && std::prev(after)->first + std::prev(after)->second > begin)
    listener.Wrong("region overlaps");
  heap.regions[begin] = range.size;
}

void RegisterRegions(nvtxDomainHandle_t, nvtxMemRegionsRegisterBatch_t const* desc) {
  const std::lock_guard lock(listener.mutex);
  listener.Call("batches of regions registered");
  if (desc->extCompatID != NVTX_EXT_COMPATID_MEM || desc->structSize != sizeof *desc) listener.Wrong("structure");
  if (desc->regionType != NVTX_MEM_TYPE_VIRTUAL_ADDRESS) listener.Wrong("type");
  const auto found = listener.heaps.find(reinterpret_cast<std::uintptr_t>(desc->heap));
  if (found == listener.heaps.end()) return listener.Wrong("heap is not known");
  for (std::size_t i = 0; i < desc->regionCount; ++i) {
    nvtxMemVirtualRangeDesc_t range;
    const auto* element = static_cast<const char*>(desc->regionDescElements) + i * desc->regionDescElementSize;
    std::memcpy(&range, element, sizeof range);
    AddRegion(found->second, range);
  }
}

void UnregisterRegions(nvtxDomainHandle_t, nvtxMemRegionsUnregisterBatch_t const* desc) {
  const std::lock_guard lock(listener.mutex);
  listener.Call("batches of regions unregistered");
  if (desc->extCompatID != NVTX_EXT_COMPATID_MEM || desc->structSize != sizeof *desc) listener.Wrong("structure");
  if (desc->refType != NVTX_MEM_REGION_REF_TYPE_POINTER) listener.Wrong("type of the reference");
  for (std::size_t i = 0; i < desc->refCount; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(desc->refElements[i].pointer);
    std::size_t known = 0;
    for (auto& [handle, heap] : listener.heaps) known += heap.regions.erase(address);
    if (known != 1) listener.Wrong("region is not known");
  }
}

std::string AsJson() {
  const std::lock_guard lock(listener.mutex);
  std::string text = "{\"heaps\": [";
  const char* comma = "";
  for (const auto& [handle, heap] : listener.heaps) {
    text += comma + ("[" + std::to_string(heap.begin)) + ", " + std::to_string(heap.bytes) + ", [";
    const char* between = "";
    for (const auto& [address, bytes] : heap.regions) {
      text += between + ("[" + std::to_string(address)) + ", " + std::to_string(bytes) + "]";
      between = ", ";
    }
    text += "]]";
    comma = ", ";
  }
  text += "], \"counts\": {";
  comma = "";
  for (const auto& [what, count] : listener.counts) {
    text += comma + ("\"" + what) + "\": " + std::to_string(count);
    comma = ", ";
  }
  return text + "}}";
}

__attribute__((destructor)) void WriteAtEnd() {
  const char* path = std::getenv("NVTX_LISTENER_OUTPUT");
  if (path == nullptr || getpid() != listener.process) return;
  if (std::FILE* file = std::fopen(path, "w"); file != nullptr) {
    std::fputs((AsJson() + "\n").c_str(), file);
    std::fclose(file);
  }
}

}  // namespace

EXPORTED int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (std::getenv("NVTX_LISTENER_REFUSES") != nullptr) return 0;
  if (module->moduleId != NVTX_EXT_MODULEID_MEM || module->segmentsCount != 1) return 0;
  intptr_t* const slots = module->segments[0].functionSlots;
  slots[NVTX3EXT_CBID_nvtxMemHeapRegister] = reinterpret_cast<intptr_t>(&RegisterHeap);
  slots[NVTX3EXT_CBID_nvtxMemHeapUnregister] = reinterpret_cast<intptr_t>(&UnregisterHeap);
  slots[NVTX3EXT_CBID_nvtxMemRegionsRegister] = reinterpret_cast<intptr_t>(&RegisterRegions);
  slots[NVTX3EXT_CBID_nvtxMemRegionsUnregister] = reinterpret_cast<intptr_t>(&UnregisterRegions);
  return 1;
}

// The memory known now, as JSON; the text is valid until the next call.
EXPORTED const char* nvtx_listener_state() {
  static std::string text;
  text = AsJson();
  return text.c_str();
}
#endif
