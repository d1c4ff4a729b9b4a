#include "simcuda/api/attributes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace memoir::simcuda {
namespace {

constexpr int kFirstBus = 0x10;
constexpr int kThreadsPerBlock = 1024, kWarp = 32, kRegisters = 65536;
constexpr int kStaticSharedMemory = 48 << 10, kReservedSharedMemory = 1024;
constexpr int kLongestGrid = 2147483647, kLongestGridYZ = 65535;

struct AttributeRow {
  CUdevice_attribute attribute;
  int value;
};

// Attributes that are equal on all cards of profiles.txt.
constexpr AttributeRow kFixed[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kThreadsPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, kThreadsPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, kThreadsPerBlock},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, kLongestGrid},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, kLongestGrid},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, kLongestGridYZ},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, kLongestGridYZ},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kStaticSharedMemory},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, kWarp},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, kRegisters},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, kRegisters},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, kReservedSharedMemory},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
};

// Returns the value of an attribute of kFixed. -1 if it is not in kFixed.
int FixedAttribute(int attribute) {
  const auto* const found =
      std::ranges::find(kFixed, attribute, [](const AttributeRow& row) { return int{row.attribute}; });
  return found == std::end(kFixed) ? -1 : found->value;
}

}  // namespace

int Attribute(const CardProfile& profile, int ordinal, int attribute) {
  if (const int fixed = FixedAttribute(attribute); fixed >= 0) return fixed;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return profile.compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return profile.compute_minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return profile.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return profile.threads_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return profile.blocks_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return static_cast<int>(profile.shared_memory);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return static_cast<int>(profile.shared_memory_per_block);
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return static_cast<int>(profile.l2_cache);
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:
      return profile.compute_major >= 8 ? static_cast<int>(profile.l2_cache / 4 * 3) : 0;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return profile.clock_mhz * 1000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return profile.memory_bus_bits;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return kFirstBus + ordinal;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
      return profile.compute_major >= 9 ? 1 : 0;
    default:
      return 0;  // also for fabric handles, multicast and RDMA, which need other machines
  }
}

void FillProperties(const CardProfile& profile, int ordinal, cudaDeviceProp& properties) {
  properties = cudaDeviceProp();
  const auto attribute = [&](int which) { return Attribute(profile, ordinal, which); };
  std::snprintf(properties.name, sizeof properties.name, "%s", profile.name.c_str());
  FillUuid(ordinal, properties.uuid.bytes);
  properties.totalGlobalMem = profile.memory;
  properties.major = profile.compute_major;
  properties.minor = profile.compute_minor;
  properties.multiProcessorCount = profile.multiprocessors;
  properties.maxThreadsPerMultiProcessor = profile.threads_per_multiprocessor;
  properties.maxBlocksPerMultiProcessor = profile.blocks_per_multiprocessor;
  properties.sharedMemPerMultiprocessor = profile.shared_memory;
  properties.sharedMemPerBlockOptin = profile.shared_memory_per_block;
  properties.sharedMemPerBlock = kStaticSharedMemory;
  properties.reservedSharedMemPerBlock = kReservedSharedMemory;
  properties.regsPerBlock = properties.regsPerMultiprocessor = kRegisters;
  properties.warpSize = kWarp;
  properties.maxThreadsPerBlock = kThreadsPerBlock;
  properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = kThreadsPerBlock;
  properties.maxThreadsDim[2] = 64;
  properties.maxGridSize[0] = kLongestGrid;
  properties.maxGridSize[1] = properties.maxGridSize[2] = kLongestGridYZ;
  properties.memPitch = kLongestGrid;
  properties.totalConstMem = 65536;
  properties.textureAlignment = properties.surfaceAlignment = 512;
  properties.texturePitchAlignment = kWarp;
  properties.l2CacheSize = static_cast<int>(profile.l2_cache);
  properties.persistingL2CacheMaxSize = attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  properties.memoryBusWidth = profile.memory_bus_bits;
  properties.pciBusID = kFirstBus + ordinal;
  properties.asyncEngineCount = 3;
  properties.canMapHostMemory = properties.concurrentKernels = properties.unifiedAddressing = 1;
  properties.streamPrioritiesSupported = properties.globalL1CacheSupported = properties.localL1CacheSupported = 1;
  properties.managedMemory = properties.concurrentManagedAccess = properties.computePreemptionSupported = 1;
  properties.canUseHostPointerForRegisteredMem = properties.cooperativeLaunch = properties.memoryPoolsSupported = 1;
  properties.hostRegisterSupported = properties.ECCEnabled = 1;
  properties.clusterLaunch = attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
}

void FillBusId(int ordinal, char* text, int length) {
  std::snprintf(text, static_cast<std::size_t>(std::max(length, 0)), "0000:%02X:00.0",
                static_cast<unsigned>(kFirstBus + ordinal));
}

int OrdinalOfBusId(const char* text) {
  // "DOMAIN:BUS:DEVICE.FUNCTION" in hexadecimal digits.
  const char* const colon = std::strchr(text, ':');
  if (colon == nullptr || colon == text) return -1;
  char* end = nullptr;
  const unsigned long bus = std::strtoul(colon + 1, &end, 16);
  return end == colon + 1 || bus > 0xff ? -1 : static_cast<int>(bus) - kFirstBus;
}

void FillUuid(int ordinal, char* bytes) {
  std::memset(bytes, 0x5c, 16);
  bytes[15] = static_cast<char>(ordinal);
}

int BlocksPerMultiprocessor(const CardProfile& profile, int threads, std::size_t shared) {
  const int whole_warps = (std::max(threads, 1) + kWarp - 1) / kWarp * kWarp;
  int blocks = std::min(profile.threads_per_multiprocessor / whole_warps, profile.blocks_per_multiprocessor);
  if (shared > 0) {
    const auto room = profile.shared_memory / (shared + kReservedSharedMemory);
    blocks = std::min(blocks, static_cast<int>(std::min<std::uint64_t>(room, 1 << 16)));
  }
  return std::max(blocks, 1);
}

}  // namespace memoir::simcuda
