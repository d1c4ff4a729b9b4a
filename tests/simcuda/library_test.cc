// The other libraries, kernels, and what was only counted.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simcuda/api/simulation_queries.h"
#include "tests/simcuda/simulated_library.h"

// Declared by headers that only nvcc reads.
extern "C" {
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
}

namespace memoir::simcuda {
namespace {

using ::testing::HasSubstr;

TEST(Kernels, AreCountedByName) {
  const char host = 0;
  SIM(__cudaRegisterFunction)(nullptr, &host, nullptr, "_Z6kernelv", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(SIM(__cudaGetKernel)(&kernel, &host), cudaSuccess);
  const auto before = SIM(memoir_simulated_launches)();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(SIM(__cudaLaunchKernel)(kernel, dim3{}, dim3{}, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(SIM(memoir_simulated_launches)() - before, 3u);
}

TEST(Kernels, SayTheirNames) {
  static const char host = 0, stranger = 0;  // on the stack they may lie where another test has registered one
  SIM(__cudaRegisterFunction)(nullptr, &host, nullptr, "_Z5namedv", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  const char* name = nullptr;
  ASSERT_EQ(SIM(cudaFuncGetName)(&name, &host), cudaSuccess);
  EXPECT_STREQ(name, "_Z5namedv");
  EXPECT_EQ(SIM(cudaFuncGetName)(&name, &stranger), cudaErrorInvalidDeviceFunction);
  SIM(cudaGetLastError)();
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(SIM(__cudaGetKernel)(&kernel, &host), cudaSuccess);
  ASSERT_EQ(SIM(cuKernelGetName)(&name, reinterpret_cast<CUkernel>(kernel)), CUDA_SUCCESS);
  EXPECT_STREQ(name, "_Z5namedv");
  ASSERT_EQ(SIM(__cudaGetKernel)(&kernel, &stranger), cudaSuccess);
  EXPECT_EQ(SIM(cuKernelGetName)(&name, reinterpret_cast<CUkernel>(kernel)), CUDA_ERROR_INVALID_HANDLE);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(SIM(cuModuleLoadData)(&module, "no image is read"), CUDA_SUCCESS);
  ASSERT_EQ(SIM(cuModuleGetFunction)(&function, module, "triton_kernel"), CUDA_SUCCESS);
  ASSERT_EQ(SIM(cuFuncGetName)(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "triton_kernel");
  EXPECT_EQ(SIM(cuModuleUnload)(module), CUDA_SUCCESS);
}

TEST(Kernels, CallConfigurationsNest) {
  SIM(__cudaPushCallConfiguration)(dim3{1, 2, 3}, dim3{4, 5, 6}, 7, nullptr);
  SIM(__cudaPushCallConfiguration)(dim3{9, 9, 9}, dim3{9, 9, 9}, 9, nullptr);
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(SIM(__cudaPopCallConfiguration)(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(shared, 9u);
  EXPECT_EQ(SIM(__cudaPopCallConfiguration)(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(block.x, 4u);
  EXPECT_EQ(SIM(__cudaPopCallConfiguration)(&grid, &block, &shared, &stream), cudaErrorUnknown);
  SIM(cudaGetLastError)();
}

TEST(Kernels, OfModulesAreLaunched) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(SIM(cuModuleLoadData)(&module, "no image is read"), CUDA_SUCCESS);
  ASSERT_EQ(SIM(cuModuleGetFunction)(&function, module, "triton_kernel"), CUDA_SUCCESS);
  EXPECT_EQ(SIM(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(SIM(cuModuleUnload)(module), CUDA_SUCCESS);
}

TEST(Stubs, AreCountedAndSayWhatTheyCannot) {
  const auto before = SIM(memoir_simulated_calls)("cuGraphicsUnregisterResource");
  EXPECT_EQ(SIM(cuGraphicsUnregisterResource)(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(SIM(memoir_simulated_calls)("cuGraphicsUnregisterResource"), before + 1);
  CUarray array = nullptr;
  EXPECT_EQ(SIM(cuArrayCreate_v2)(&array, nullptr), CUDA_ERROR_NOT_SUPPORTED) << "asks for a result";
  cudaArray_t other = nullptr;
  EXPECT_EQ(SIM(cudaMallocArray)(&other, nullptr, 1, 1, 0), cudaErrorNotSupported);
  EXPECT_EQ(SIM(memoir_simulated_calls)("no such function"), 0u);
}

TEST(Stubs, CountsGoIntoAFile) {
  char path[] = "/tmp/memoir-counts-XXXXXX";
  ASSERT_GE(mkstemp(path), 0);
  const std::string command = "MEMOIR_SIM_COUNTS=" + std::string(path) + " LD_PRELOAD=" MEMOIR_SIMCUDA_LIBRARY " true";
  if (std::string(MEMOIR_SANITIZED).empty()) {
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(std::ifstream(path).peek(), EOF) << "a program that calls no CUDA writes nothing";
  }
  std::remove(path);
}

TEST(Cublas, RemembersWhatIsSet) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(SIM(cublasCreate_v2)(&handle), CUBLAS_STATUS_SUCCESS);
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  SIM(cublasSetPointerMode_v2)(handle, CUBLAS_POINTER_MODE_DEVICE);
  SIM(cublasGetPointerMode_v2)(handle, &mode);
  EXPECT_EQ(mode, CUBLAS_POINTER_MODE_DEVICE);
  EXPECT_EQ(SIM(cublasSgemm_v2)(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, nullptr, 1, nullptr, 1, nullptr,
                                nullptr, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(SIM(cublasDestroy_v2)(handle), CUBLAS_STATUS_SUCCESS);
}

TEST(Cudnn, ShapesAreReadBack) {
  cudnnTensorDescriptor_t descriptor = nullptr;
  ASSERT_EQ(SIM(cudnnCreateTensorDescriptor)(&descriptor), CUDNN_STATUS_SUCCESS);
  const int sizes[] = {2, 3, 4}, strides[] = {12, 4, 1};
  ASSERT_EQ(SIM(cudnnSetTensorNdDescriptor)(descriptor, CUDNN_DATA_HALF, 3, sizes, strides), CUDNN_STATUS_SUCCESS);
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int dimensions = 0, got[3] = {}, got_strides[3] = {};
  ASSERT_EQ(SIM(cudnnGetTensorNdDescriptor)(descriptor, 3, &type, &dimensions, got, got_strides), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(type, CUDNN_DATA_HALF);
  EXPECT_EQ(dimensions, 3);
  EXPECT_THAT(got, ::testing::ElementsAre(2, 3, 4));
  EXPECT_EQ(SIM(cudnnDestroyTensorDescriptor)(descriptor), CUDNN_STATUS_SUCCESS);
}

TEST(Nccl, OneProcessStandsForAllRanks) {
  ncclUniqueId id;
  ncclComm_t communicator = nullptr;
  ASSERT_EQ(SIM(ncclGetUniqueId)(&id), ncclSuccess);
  EXPECT_EQ(SIM(ncclCommInitRank)(&communicator, 4, id, 4), ncclInvalidArgument);
  ASSERT_EQ(SIM(ncclCommInitRank)(&communicator, 4096, id, 7), ncclSuccess);
  int ranks = 0;
  SIM(ncclCommCount)(communicator, &ranks);
  EXPECT_EQ(ranks, 4096);
  const std::int32_t mine = 5;
  std::int32_t all[4096] = {};
  EXPECT_EQ(SIM(ncclAllGather)(&mine, all, 1, ncclInt32, communicator, nullptr), ncclSuccess);
  EXPECT_EQ(all[0], 5);
  EXPECT_EQ(all[4095], 5);
  EXPECT_EQ(SIM(ncclCommDestroy)(communicator), ncclSuccess);
}

TEST(Identity, NamesTheDevice) {
  EXPECT_STREQ(SIM(memoir_simulated_device)(), "NVIDIA L4 (l4) with 4.00 GiB, alone of 4096 ranks");
  CUdeviceptr block = 0;
  SIM(cuMemAlloc_v2)(&block, 64 * kMebibyte);
  EXPECT_EQ(SIM(memoir_simulated_used)(0), kTestContext + 64 * kMebibyte);
  EXPECT_GE(SIM(memoir_simulated_peak)(0), SIM(memoir_simulated_used)(0));
  EXPECT_EQ(SIM(memoir_simulated_used)(9), 0u);
  SIM(cuMemFree_v2)(block);
}

}  // namespace
}  // namespace memoir::simcuda
