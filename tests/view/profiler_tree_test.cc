#include "tools/view/torch_profiler/profiler_tree.h"

#include <string>

#include "gtest/gtest.h"

namespace memoir {
namespace {

TEST(ProfilerTreeName, LeavesOutWhatDiffersBetweenRuns) {
  EXPECT_EQ(ProfilerTreeName("aten::add"), "aten::add");
  EXPECT_EQ(ProfilerTreeName("torch/nn/modules/module.py(1773): _call_impl"),
            "torch/nn/modules/module.py(...): _call_impl");
  EXPECT_EQ(ProfilerTreeName("a.py(1): b.py(22): f"), "a.py(1): b.py(...): f") << "the last one, as a greedy pattern";
  EXPECT_EQ(ProfilerTreeName("a.py(x): f"), "a.py(x): f");
  EXPECT_EQ(ProfilerTreeName(".py("), ".py(");
  EXPECT_EQ(ProfilerTreeName("<built-in method add of type object at 0x7f00Ab12>"),
            "<built-in method add of type object at 0xXXXXXXXXXXXX>");
  EXPECT_EQ(ProfilerTreeName("object at 0x> object at 0x12"), "object at 0x> object at 0x12");
}

TEST(ProfilerTreeName, LeavesOutArgumentsOfKernels) {
  EXPECT_EQ(
      ProfilerTreeName("void at::native::vectorized_elementwise_kernel<4, at::F, std::array<char*, 1>>(int, at::F)"),
      "void at::native::vectorized_elementwise_kernel<...>(...)");
  EXPECT_EQ(ProfilerTreeName("void cutlass_kernel<A>(A)"), "void ..._kernel<...>(...)");
  EXPECT_EQ(ProfilerTreeName("void two_words_kernel<A>(A)"), "void two_words_kernel<A>(A)") << "[a-zA-Z0-9]+ alone";
  EXPECT_EQ(ProfilerTreeName("void at::native::reduce_kernel<>(x)"), "void at::native::reduce_kernel<>(x)");
  EXPECT_EQ(ProfilerTreeName("void gemm_kernel<A>()"), "void gemm_kernel<A>()") << ".+ is not empty";
}

// Names are the program's: any bytes, of any length.
TEST(ProfilerTreeName, IsQuickOnLongNames) {
  std::string name;
  for (int i = 0; i < 100'000; ++i) name += "void x_kernel<.py(1";
  EXPECT_EQ(ProfilerTreeName(name), name);
  EXPECT_EQ(ProfilerTreeName(name + ")"), name + ")");
}

}  // namespace
}  // namespace memoir
