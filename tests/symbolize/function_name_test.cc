#include "tools/symbolize/function_name.h"

#include "gtest/gtest.h"

namespace memoir {
namespace {

TEST(ShortName, LeavesOutWhatIsNotTheName) {
  EXPECT_EQ(ShortName("main"), "main");
  EXPECT_EQ(ShortName("at::empty_like(at::Tensor const&, std::optional<c10::Layout>)"), "at::empty_like");
  EXPECT_EQ(ShortName("at::Tensor c10::Dispatcher::call<at::Tensor, std::vector<int> >(int) const"),
            "c10::Dispatcher::call");
  EXPECT_EQ(ShortName("std::vector<int>::push_back(int const&)"), "std::vector::push_back");
  EXPECT_EQ(ShortName("decltype(auto) visit<f>(g<(h)1>)"), "visit");
  EXPECT_EQ(ShortName("(anonymous namespace)::Step(_Unwind_Context*)"), "(anonymous namespace)::Step");
  EXPECT_EQ(ShortName("void at::native::(anonymous namespace)::fill<float>(float) [clone .isra.0]"),
            "at::native::(anonymous namespace)::fill");
}

TEST(ShortName, KnowsOperators) {
  EXPECT_EQ(ShortName("f::operator()(int) const"), "f::operator()");
  EXPECT_EQ(ShortName("std::ostream& a::operator<< <char>(std::ostream&, char)"), "a::operator<<");
  EXPECT_EQ(ShortName("a::operator->() const"), "a::operator->");
  EXPECT_EQ(ShortName("a::operator bool() const"), "a::operator bool");
  EXPECT_EQ(ShortName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(ShortName("my_operator(int)"), "my_operator");
}

TEST(ShortName, NamesWhatIsInsideAFunction) {
  EXPECT_EQ(ShortName("a::b(int)::{lambda(int)#1}::operator()(int) const"), "a::b::{lambda#1}::operator()");
  EXPECT_EQ(ShortName("a::b<int>(int) const::{lambda()#2}::operator()() const"), "a::b::{lambda#2}::operator()");
}

TEST(ShortName, LeavesWhatItCannotRead) {
  for (const char* text : {"", "a<b", "f(int", "(", "operator"}) EXPECT_EQ(ShortName(text), text);
}

TEST(FunctionName, DemanglesWhatIsMangled) {
  EXPECT_EQ(FunctionName("_ZN2at5emptyEN3c108ArrayRefIlEE"), "at::empty");
  EXPECT_EQ(FunctionName("f"), "f");
  EXPECT_EQ(FunctionName("_Zbroken"), "_Zbroken");
}

}  // namespace
}  // namespace memoir
