// A build without NVIDIA's headers reports it, with any tool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/variables.h"
#include "tracker/torch/publication/nvtx_memory.h"

namespace memoir {
namespace {

TEST(NvtxMemoryTest, ABuildWithoutHeadersSaysSo) {
  const Variables variables{{"NVTX_INJECTION64_PATH", "/opt/tool.so"}};
  EXPECT_THAT(ListenerProblem(), testing::HasSubstr("was built without NVIDIA's headers"));
  EXPECT_THAT(ListenToMemory(), testing::HasSubstr("nothing is published"));
  EXPECT_EQ(RegisterHeap({4096, 4096}), nullptr);
}

}  // namespace
}  // namespace memoir
