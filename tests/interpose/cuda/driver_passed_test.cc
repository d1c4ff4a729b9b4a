// Calls that bypass the wrappers are counted: of a fifth library that defines a name, and through read-only slots. A
// separate program: the wrappers' variants are used up for the process.

#include <algorithm>
#include <filesystem>

#include "tests/interpose/cuda/driver_events.h"
#include "tests/refused_mprotect.h"

namespace memoir {
namespace {

class DriverPassed : public DriverWatch {
 protected:
  // A copy is a different library.
  void* LoadCopy(const char* library, int number) {
    const std::string copy = libraries_.path() + "/copy" + std::to_string(number) + ".so";
    std::filesystem::copy_file(library, copy);
    void* loaded = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(loaded, nullptr) << dlerror();
    return loaded;
  }
  const TempFolder libraries_;
};

TEST_F(DriverPassed, SlotsThatMayNotBeWrittenToAreTriedAgain) {
  EXPECT_EQ(CountUnwrappedCalls().refused, 0u);
  void* copy = LoadCopy(MEMOIR_CUDA_CALLER, 0);
  refuse_mprotect = true;
  WrapNewObjects();
  EXPECT_GT(CountUnwrappedCalls().refused, 0u);
  EXPECT_GT(CountUnwrappedCalls().since_tick, 0u);
  refuse_mprotect = false;
  for (int i = 0; i < 3 && CountUnwrappedCalls().refused > 0; ++i) WrapNewObjects();
  EXPECT_EQ(CountUnwrappedCalls().refused, 0u);
  EXPECT_EQ(CountUnwrappedCalls().since_tick, 0u) << "none are passed any more";
  void* pointer = nullptr;
  ASSERT_EQ(reinterpret_cast<Allocate>(dlsym(copy, "caller_allocate"))(&pointer, kMiB), 0);
  EXPECT_THAT(Events(), testing::Contains(Gave(DriverCall::kMalloc, kMiB, "copy0.so")));
}

TEST_F(DriverPassed, AFifthDefinitionOfANameIsCounted) {
  std::vector<void*> copies;
  for (int i = 0; i < 3; ++i) copies.push_back(LoadCopy(MEMOIR_OWN_CALLER, i));
  WrapNewObjects();
  EXPECT_EQ(CountUnwrappedCalls().functions, 0u) << "with the first runtime they are four";
  for (int i = 3; i < 5; ++i) copies.push_back(LoadCopy(MEMOIR_OWN_CALLER, i));
  WrapNewObjects();
  Events();
  EXPECT_EQ(CountUnwrappedCalls().functions, 1u);
  EXPECT_STREQ(CountUnwrappedCalls().function, "cudaMalloc");
  EXPECT_GT(CountUnwrappedCalls().since_tick, 0u);
  for (void* copy : copies) reinterpret_cast<void* (*)(std::size_t)>(dlsym(copy, "other_allocate"))(kMiB);
  const auto gave = [](const Event& event) { return event.kind == RecordKind::kDriverAllocate; };
  EXPECT_EQ(std::ranges::count_if(Events(), gave), 3) << "those that wrappers stand for";
}

}  // namespace
}  // namespace memoir
