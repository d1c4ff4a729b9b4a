// A child that was forked during another thread's call of CUDA calls CUDA itself, and ends.
//
// A child that hangs is ended by its own alarm, which never happens in a passing test.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "simcuda/api/simulation_queries.h"
#include "tests/simcuda/simulated_library.h"

extern "C" {
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
}

namespace memoir::simcuda {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kWatchSeconds = 60;

void UseBlocks() {
  CUdeviceptr block = 0;
  SIM(cuMemAlloc_v2)(&block, 3 * kMebibyte);
  const int mine = 7;
  SIM(cudaMemcpy)(reinterpret_cast<void*>(block), &mine, sizeof mine, cudaMemcpyHostToDevice);
  SIM(cuMemFree_v2)(block);
  std::size_t free = 0, total = 0;
  SIM(cudaMemGetInfo)(&free, &total);
}

void UsePools() {
  CUdeviceptr block = 0;
  SIM(cuMemAllocAsync)(&block, kMebibyte, nullptr);
  SIM(cuMemFreeAsync)(block, nullptr);
}

void UseHostMemory() {
  void* pinned = nullptr;
  SIM(cuMemHostAlloc)(&pinned, 4096, 0);
  SIM(cuMemFreeHost)(pinned);
}

void UseVirtualMemory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  if (SIM(cuMemCreate)(&handle, 2 * kMebibyte, &properties, 0) == CUDA_SUCCESS) SIM(cuMemRelease)(handle);
}

void UseStreams() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  SIM(cudaStreamCreateWithPriority)(&stream, 0, 0);
  SIM(cudaEventCreateWithFlags)(&event, 0);
  SIM(cudaMemsetAsync)(nullptr, 0, 0, nullptr);
  SIM(cudaEventRecord)(event, nullptr);
  SIM(cudaEventQuery)(event);
  if (SIM(cudaStreamBeginCapture)(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess) {
    SIM(cudaStreamEndCapture)(stream, &graph);
    SIM(cudaGraphDestroy)(graph);
  }
  SIM(cudaEventDestroy)(event);
  SIM(cudaStreamDestroy)(stream);
}

void UseKernels() {
  static const char host = 0;
  SIM(__cudaRegisterFunction)(nullptr, &host, nullptr, "_Z6kernelv", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  cudaKernel_t kernel = nullptr;
  SIM(__cudaGetKernel)(&kernel, &host);
  SIM(__cudaLaunchKernel)(kernel, dim3{}, dim3{}, nullptr, 0, nullptr);
}

void UseLibraries() {
  cublasHandle_t blas = nullptr;
  cudnnHandle_t dnn = nullptr;
  SIM(cublasCreate_v2)(&blas);
  SIM(cublasDestroy_v2)(blas);
  SIM(cudnnCreate)(&dnn);
  SIM(cudnnDestroy)(dnn);
  SIM(cudnnGetVersion)();
}

void UseNccl() {
  ncclUniqueId id;
  ncclComm_t communicator = nullptr;
  float factor = 2, given = 1, got[4096];
  ncclRedOp_t scaled = ncclSum;
  SIM(ncclGetUniqueId)(&id);
  if (SIM(ncclCommInitRank)(&communicator, 4096, id, 7) != ncclSuccess) return;
  SIM(ncclAllGather)(&given, got, 1, ncclFloat32, communicator, nullptr);
  SIM(ncclRedOpCreatePreMulSum)(&scaled, &factor, ncclFloat32, ncclScalarHostImmediate, communicator);
  SIM(ncclRedOpDestroy)(scaled, communicator);
  SIM(ncclCommDestroy)(communicator);
}

void UseDevices() {
  SIM(cudaDeviceEnablePeerAccess)(1, 0);
  SIM(cudaDeviceDisablePeerAccess)(1);
  SIM(cudaDeviceSynchronize)();
  SIM(memoir_simulated_split)(3, 4);
}

constexpr std::array kUses = {UseBlocks,  UsePools,     UseHostMemory, UseVirtualMemory, UseStreams,
                              UseKernels, UseLibraries, UseNccl,       UseDevices};

void UseAllFrom(std::size_t first) {
  for (std::size_t i = 0; i < kUses.size(); ++i) kUses[(first + i) % kUses.size()]();
}

// Threads that call CUDA, each beginning elsewhere, until it is gone.
class BusyThreads {
 public:
  explicit BusyThreads(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        do UseAllFrom(i * 3);
        while (!stop_.load());
      });
    }
  }
  ~BusyThreads() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// The result of `run` in a child: 0 for success, a negative number for the signal that ended it (-SIGALRM: it hung).
template <typename Run>
int InChild(const Run& run) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(kWatchSeconds);
    run();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(MEMOIR_SANITIZED) == "thread") GTEST_SKIP() << "tsan's runtime hangs in forks beside threads";
    folder_ = fs::temp_directory_path() / ("simcuda_fork." + std::to_string(getpid()));
    fs::create_directory(folder_);
    setenv("MEMOIR_SIM_REPORT", folder_.c_str(), 1);
    setenv("MEMOIR_SIM_HANDLES", "1MiB", 1);
    setenv("MEMOIR_SIM_LATE", "3", 1);
    Symbol("cudaMalloc");  // loads the library, and calls nothing
  }
  void TearDown() override { fs::remove_all(folder_); }

  const int rounds_ = std::getenv("MEMOIR_TEST_LONG") != nullptr ? 10'000 : 500;

 private:
  fs::path folder_;
};

// First, for it wants a process in which CUDA was not called: each round is one, whose child may find what is made at
// the first use half made.
TEST_F(ForkTest, BesideFirstCallsLetsTheChildCall) {
  for (int round = 0; round < rounds_ / 10; ++round) {
    const int ended = InChild([] {
      const BusyThreads busy(3);
      for (int i = 0; i < 3; ++i) {
        if (const int child = InChild([] { UseAllFrom(0); }); child != 0) _exit(-child);
      }
    });
    ASSERT_EQ(ended, 0) << "round " << round << ": the signal that ended the child";
  }
}

TEST_F(ForkTest, BesideCallsLetsTheChildCall) {
  const BusyThreads busy(4);
  for (int round = 0; round < rounds_; ++round) ASSERT_EQ(InChild([] { UseAllFrom(0); }), 0) << "round " << round;
}

TEST_F(ForkTest, OfManyThreadsAtOnceLetsEachGoOn) {
  std::atomic<int> wrong{0};
  {
    const BusyThreads busy(1);
    std::vector<std::thread> forking;
    for (int i = 0; i < 3; ++i) {
      forking.emplace_back([&wrong, rounds = rounds_ / 10] {
        for (int round = 0; round < rounds; ++round) {
          UseBlocks();
          if (InChild([] { UseAllFrom(0); }) != 0) ++wrong;
        }
      });
    }
    for (std::thread& thread : forking) thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace memoir::simcuda
