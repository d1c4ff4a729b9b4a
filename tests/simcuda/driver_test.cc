// The CUDA driver as torch's expandable segments and triton use it, on the library itself.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "gtest/gtest.h"
#include "tests/simcuda/simulated_library.h"

namespace memoir::simcuda {
namespace {

constexpr std::uint64_t kSegment = 20 * kMebibyte;

CUmemAllocationProp OnDevice(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  return properties;
}

TEST(DriverEntryPoints, AreFoundByNameAndVersioned) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointVersionNotSufficent;
  ASSERT_EQ(SIM(cudaGetDriverEntryPointByVersion)("cuMemAlloc", &function, 12000, 0, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(function, Symbol("cuMemAlloc_v2"));
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_EQ(SIM(cuGetProcAddress_v2)("cuNoSuchFunction", &function, 12000, 0, &result), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(SIM(cuGetProcAddress_v2)("cuGetProcAddress", &function, 12000, 0, nullptr), CUDA_SUCCESS);
}

TEST(DriverEntryPoints, TakeWhatTheirCudaTakes) {
  void *earlier = nullptr, *later = nullptr;
  ASSERT_EQ(SIM(cuGetProcAddress_v2)("cuCtxSynchronize", &earlier, 12090, 0, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(SIM(cuGetProcAddress_v2)("cuCtxSynchronize", &later, 13000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(earlier)(), CUDA_SUCCESS);
  const auto synchronize = reinterpret_cast<CUresult (*)(CUcontext)>(later);
  CUcontext second = nullptr;
  ASSERT_EQ(SIM(cuDevicePrimaryCtxRetain)(&second, 1), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(nullptr), CUDA_SUCCESS) << "the one in use";
  EXPECT_EQ(synchronize(reinterpret_cast<CUcontext>(&later)), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_EQ(SIM(cuGetProcAddress_v2)("cuCtxGetDevice", &later, 13000, 0, nullptr), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ((reinterpret_cast<CUresult (*)(CUdevice*, CUcontext)>(later)(&device, second)), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
}

TEST(DriverContexts, AreTheirDevices) {
  CUcontext second = nullptr, current = nullptr;
  ASSERT_EQ(SIM(cuDevicePrimaryCtxRetain)(&second, 1), CUDA_SUCCESS);
  int active = 0;
  EXPECT_EQ(SIM(cuDevicePrimaryCtxGetState)(1, nullptr, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  ASSERT_EQ(SIM(cuCtxPushCurrent_v2)(second), CUDA_SUCCESS);
  int device = -1;
  SIM(cudaGetDevice)(&device);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(SIM(cuCtxPopCurrent_v2)(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, second);
  SIM(cudaGetDevice)(&device);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(SIM(cuCtxPopCurrent_v2)(&current), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(SIM(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(&device)), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(DriverVirtualMemory, AsExpandableSegmentsUseIt) {
  SIM(cudaFree)(nullptr);
  const std::uint64_t free = FreeBytes();
  const CUmemAllocationProp properties = OnDevice(0);
  CUdeviceptr base = 0;
  ASSERT_EQ(SIM(cuMemAddressReserve)(&base, 16ull << 30, 0, 0, 0), CUDA_SUCCESS) << "more addresses than memory";
  CUmemGenericAllocationHandle handles[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(SIM(cuMemCreate)(&handles[i], kSegment, &properties, 0), CUDA_SUCCESS);
    ASSERT_EQ(SIM(cuMemMap)(base + static_cast<unsigned>(i) * kSegment, kSegment, 0, handles[i], 0), CUDA_SUCCESS);
  }
  EXPECT_EQ(FreeBytes(), free - 2 * kSegment);
  EXPECT_EQ(SIM(cudaMemset)(reinterpret_cast<void*>(base), 5, 100), cudaSuccess);
  EXPECT_EQ(SIM(cuMemUnmap)(base, 2 * kSegment), CUDA_SUCCESS);
  for (const auto handle : handles) EXPECT_EQ(SIM(cuMemRelease)(handle), CUDA_SUCCESS);
  EXPECT_EQ(FreeBytes(), free);
  EXPECT_EQ(SIM(cuMemAddressFree)(base, 16ull << 30), CUDA_SUCCESS);
  EXPECT_EQ(SIM(cuMemAddressFree)(base, 16ull << 30), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverVirtualMemory, BadRequestsAreRefused) {
  CUmemAllocationProp properties = OnDevice(0);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(SIM(cuMemCreate)(&handle, 100, &properties, 0), CUDA_ERROR_INVALID_VALUE) << "no whole pages";
  EXPECT_EQ(SIM(cuMemCreate)(&handle, 8ull << 30, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(SIM(cuMemCreate)(&handle, kSegment, &properties, 0), CUDA_ERROR_NOT_SUPPORTED);
  properties = OnDevice(7);
  EXPECT_EQ(SIM(cuMemCreate)(&handle, kSegment, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(SIM(cuMemRelease)(12345), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(SIM(cuMemMap)(0x1000, kSegment, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverPointers, SayWhereTheyAre) {
  CUdeviceptr address = 0;
  ASSERT_EQ(SIM(cuMemAlloc_v2)(&address, 3 * kMebibyte), CUDA_SUCCESS);
  int device = -1;
  EXPECT_EQ(SIM(cuPointerGetAttribute)(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address + 5), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(SIM(cuMemGetAddressRange_v2)(&base, &bytes, address + 5), CUDA_SUCCESS);
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, 4 * kMebibyte);
  EXPECT_EQ(
      SIM(cuPointerGetAttribute)(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, reinterpret_cast<CUdeviceptr>(&base)),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(SIM(cuMemFree_v2)(address), CUDA_SUCCESS);
}

TEST(DriverErrors, HaveNames) {
  const char* text = nullptr;
  EXPECT_EQ(SIM(cuGetErrorString)(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(SIM(cuGetErrorName)(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
}

}  // namespace
}  // namespace memoir::simcuda
