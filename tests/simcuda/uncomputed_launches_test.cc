// Arguments of a kernel that is not computed are unknown afterwards: at once, and after each replay of a graph.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "simcuda/api/computed_values.h"
#include "tests/simcuda/simulated_library.h"

namespace memoir::simcuda {
namespace {

constexpr const char* kPtx = R"(
.version 8.7
.visible .entry writes(.param .u64 .ptr .global .align 1 out, .param .u32 n, .param .align 8 .b8 rest[16]) { ret; }
)";
constexpr std::uint64_t kBlock = 512;

// Four blocks that an allocator dealt out of one of CUDA's, all of them known.
class UncomputedLaunchesTest : public testing::Test {
 protected:
  UncomputedLaunchesTest() {
    SIM(cudaMalloc)(reinterpret_cast<void**>(&segment), 4 * kBlock);
    for (int i = 0; i < 4; ++i) {
      SIM(memoir_simulated_deal)(Block(i), kBlock);
      SIM(cudaMemset)(Block(i), 7, kBlock);
    }
    SIM(cudaStreamCreate)(&stream);
    SIM(memoir_simulated_end_operator)(SIM(memoir_simulated_begin_operator)());
  }
  ~UncomputedLaunchesTest() override {
    SIM(cudaStreamDestroy)(stream);
    SIM(cudaFree)(segment);
  }

  char* Block(int i) { return segment + static_cast<std::uint64_t>(i) * kBlock; }
  // '7' for each that is known, '0' for each that is not, and reads as zero.
  std::string Known() {
    std::string known;
    for (int i = 0; i < 4; ++i) {
      char byte = 9;
      SIM(cudaMemcpy)(&byte, Block(i) + 3, 1, cudaMemcpyDeviceToHost);
      known += static_cast<char>('0' + byte);
      EXPECT_EQ(SIM(memoir_simulated_is_known)(Block(i), kBlock), byte == 7);
    }
    return known;
  }
  CUfunction Kernel(const char* image, const char* name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(SIM(cuModuleLoadData)(&module, image), CUDA_SUCCESS);
    EXPECT_EQ(SIM(cuModuleGetFunction)(&function, module, name), CUDA_SUCCESS);
    return function;
  }
  void Launch(CUfunction function, void** parameters, void** extra = nullptr) {
    EXPECT_EQ(SIM(cuLaunchKernel)(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, extra), CUDA_SUCCESS);
  }

  char* segment = nullptr;
  cudaStream_t stream = nullptr;
};

struct Parameters {
  explicit Parameters(void* first, void* second = nullptr) : out(first), rest{nullptr, second} {}
  void* out;
  int n = 5;
  void* rest[2];
  void* addresses[3] = {&out, &n, &rest};
};

TEST_F(UncomputedLaunchesTest, VoidTheBlocksWhoseAddressesTheyGet) {
  Parameters parameters(Block(1) + 100, Block(3));
  Launch(Kernel(kPtx, "writes"), parameters.addresses);
  EXPECT_EQ(Known(), "7070");
}

TEST_F(UncomputedLaunchesTest, VoidThoseOfABuffer) {
  std::array<void*, 3> buffer = {nullptr, Block(2), nullptr};
  std::size_t bytes = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  Launch(Kernel(kPtx, "writes"), nullptr, extra);
  EXPECT_EQ(Known(), "7707");
}

TEST_F(UncomputedLaunchesTest, VoidEverythingWhereNobodyKnowsWhatTheyTake) {
  Parameters parameters(Block(1));
  Launch(Kernel("\x50\xed\x55\xba fat binary", "extern_c"), parameters.addresses);
  EXPECT_EQ(Known(), "0000");
}

TEST_F(UncomputedLaunchesTest, OfAnOperatorVoidNothing) {
  Parameters parameters(Block(1));
  const auto outer = SIM(memoir_simulated_begin_operator)();
  const auto inner = SIM(memoir_simulated_begin_operator)();
  Launch(Kernel(kPtx, "writes"), parameters.addresses);
  EXPECT_EQ(SIM(memoir_simulated_end_operator)(inner), 1);
  EXPECT_EQ(SIM(memoir_simulated_end_operator)(outer), 0) << "it launched nothing itself";
  EXPECT_EQ(Known(), "7777");
}

TEST_F(UncomputedLaunchesTest, CallsOfLibrariesAreAnOperatorsWork) {
  const auto begun = SIM(memoir_simulated_begin_operator)();
  reinterpret_cast<int (*)(void*)>(Symbol("cublasSgemm_v2"))(nullptr);
  EXPECT_EQ(SIM(memoir_simulated_end_operator)(begun), 1);
}

TEST_F(UncomputedLaunchesTest, OfTheProgramVoidWhatTheirNamesSay) {
  static char host;
  void** const binary = reinterpret_cast<void** (*)(void*)>(Symbol("__cudaRegisterFatBinary"))(nullptr);
  using Register = void (*)(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
  reinterpret_cast<Register>(Symbol("__cudaRegisterFunction"))(binary, &host, nullptr, "_Z3addPfPKfi", -1, nullptr,
                                                               nullptr, nullptr, nullptr, nullptr);
  void *out = Block(0), *in = Block(1);
  int n = 3;
  void* parameters[] = {&out, &in, &n};
  using RuntimeLaunch = cudaError_t (*)(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
  const auto launch = reinterpret_cast<RuntimeLaunch>(Symbol("cudaLaunchKernel"));
  EXPECT_EQ(launch(&host, dim3(1), dim3(32), parameters, 0, stream), cudaSuccess);
  EXPECT_EQ(Known(), "0777") << "what it reads through a pointer to const is as it was";
}

TEST_F(UncomputedLaunchesTest, CapturedVoidAtEachReplay) {
  Parameters parameters(Block(2));
  CUfunction function = Kernel(kPtx, "writes");
  ASSERT_EQ(SIM(cudaStreamBeginCapture)(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  Launch(function, parameters.addresses);
  EXPECT_EQ(SIM(cudaMemsetAsync)(Block(0), 1, kBlock, stream), cudaSuccess);
  SIM(memoir_simulated_forget)(Block(3), kBlock);  // an operator that writes there
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(SIM(cudaStreamEndCapture)(stream, &graph), cudaSuccess);
  ASSERT_EQ(SIM(cudaGraphInstantiateWithFlags)(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(SIM(cudaGraphDestroy)(graph), cudaSuccess);
  for (int replay = 0; replay < 2; ++replay) {
    for (int i = 0; i < 4; ++i) SIM(cudaMemset)(Block(i), 7, kBlock);
    EXPECT_EQ(Known(), "7777");
    EXPECT_EQ(SIM(cudaGraphLaunch)(executable, stream), cudaSuccess);
    EXPECT_EQ(Known(), "0700");
  }
  EXPECT_EQ(SIM(cudaGraphExecDestroy)(executable), cudaSuccess);
}

}  // namespace
}  // namespace memoir::simcuda
