#include "tools/import/snapshot/native_function_names.h"

#include <gtest/gtest.h>

namespace memoir {
namespace {

TEST(NativeFrames, NameOperators) {
  EXPECT_EQ(OperatorOf("at::_ops::mm::call(at::Tensor const&, at::Tensor const&)"), "aten::mm");
  EXPECT_EQ(OperatorOf("at::_ops::mm::redispatch(c10::DispatchKeySet, at::Tensor const&)"), "aten::mm");
  EXPECT_EQ(OperatorOf("at::_ops::add_Tensor::call(at::Tensor const&)"), "aten::add");
  EXPECT_EQ(OperatorOf("at::_ops::add__Tensor::call(at::Tensor&)"), "aten::add_");
  EXPECT_EQ(OperatorOf("at::_ops::empty_memory_format::call(c10::ArrayRef<c10::SymInt>)"), "aten::empty");
  EXPECT_EQ(OperatorOf("at::_ops::to_dtype_layout::call(at::Tensor const&)"), "aten::to");
  EXPECT_EQ(OperatorOf("at::_ops::sum_dim_IntList::call(at::Tensor const&)"), "aten::sum");
  EXPECT_EQ(OperatorOf("at::_ops::_foreach_sqrt::call(c10::ArrayRef<at::Tensor>)"), "aten::_foreach_sqrt");
  EXPECT_EQ(OperatorOf("at::native::mm(at::Tensor const&)"), "");
  EXPECT_EQ(OperatorOf("at::_ops::mm::schema_str(int)"), "");
  EXPECT_EQ(OperatorOf("at::_ops::"), "");
  EXPECT_EQ(OperatorOf("at::_ops::mm"), "");
  EXPECT_EQ(OperatorOf("x at::_ops::mm::call()"), "");
}

TEST(NativeFrames, NameNodesOfAutograd) {
  EXPECT_EQ(AutogradNodeOf("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)"),
            "AddmmBackward0");
  EXPECT_EQ(AutogradNodeOf("torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"), "AccumulateGrad");
  EXPECT_EQ(AutogradNodeOf("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"),
            "autograd engine");
  EXPECT_EQ(AutogradNodeOf("torch::autograd::CppNode<mine::F<int> >::apply(int)"), "");
  EXPECT_EQ(AutogradNodeOf("torch::autograd::THPVariable_empty(_object*)"), "");
}

TEST(NativeFrames, TellFilesOfPython) {
  EXPECT_TRUE(IsPythonFile("/src/train.py"));
  EXPECT_TRUE(IsPythonFile("<string>"));
  EXPECT_TRUE(IsPythonFile("/tmp/ipykernel_1/123.py"));
  EXPECT_TRUE(IsPythonFile("<eval_with_key>.12"));
  EXPECT_TRUE(IsPythonFile("/usr/local/bin/train"));
  EXPECT_FALSE(IsPythonFile("/usr/include/c++/13/bits/invoke.h"));
  EXPECT_FALSE(IsPythonFile("??"));
  EXPECT_FALSE(IsPythonFile("CUDACachingAllocator.cpp"));
  EXPECT_FALSE(IsPythonFile(""));
}

TEST(NativeFrames, KnowPlumbing) {
  EXPECT_TRUE(IsPlumbing("torch::unwind::unwind()", "??"));
  EXPECT_TRUE(IsPlumbing("cfunction_call", "/build/Python-3.11.7/Objects/methodobject.c"));
  EXPECT_FALSE(IsPlumbing("mine::Attention::forward(at::Tensor)", "/src/attention.cpp"));
}

}  // namespace
}  // namespace memoir
