// Which memory ends with a context; the device of stream-ordered memory; memory of another process that is opened
// twice; arrays.
#include "tests/interpose/cuda/driver_events.h"

namespace memoir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class DriverContexts : public DriverWatch {
 protected:
  template <class Function>
  Function Find(const char* name) {
    void* found = LookUp(name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function>(found);
  }
  int OfDevice(const char* name) { return Find<int (*)(int)>(name)(3); }
  std::uint64_t Pinned() {
    void* address = nullptr;
    EXPECT_EQ(Find<int (*)(void**, std::size_t, unsigned)>("cuMemHostAlloc")(&address, kMiB, 0), 0);
    return Address(address);
  }
  std::uint64_t Block() {
    std::uint64_t address = 0;
    EXPECT_EQ(Find<AllocateAt>("cuMemAlloc_v2")(&address, kMiB), 0);
    return address;
  }
  // Readings are another matter.
  std::vector<Event> Blocks() {
    std::vector<Event> events = Events();
    std::erase_if(events, [](const Event& event) { return event.kind == RecordKind::kDeviceReading; });
    return events;
  }
};

TEST_F(DriverContexts, AResetEndsWhatItsContextHadAndIsBeforeWhatComesNext) {
  const std::uint64_t block = Block(), pinned = Pinned();
  Blocks();
  ASSERT_EQ(OfDevice("cuDevicePrimaryCtxReset_v2"), 0);
  const auto ended = Blocks();
  EXPECT_THAT(ended, UnorderedElementsAre(GotBack(block), GotBack(pinned)));
  EXPECT_EQ(Pinned(), pinned) << "the same address again";
  const auto after = Blocks();
  ASSERT_EQ(after.size(), 1u) << "nothing was still there";
  for (const Event& event : ended) EXPECT_LT(event.serial, after[0].serial);
}

TEST_F(DriverContexts, AResetThatFailsEndsNothing) {
  const std::uint64_t block = Block();
  Blocks();
  EXPECT_EQ(Find<int (*)(int)>("cuDevicePrimaryCtxReset_v2")(4), 1);
  EXPECT_THAT(Blocks(), IsEmpty());
  ASSERT_EQ(Find<int (*)(std::uint64_t)>("cuMemFree_v2")(block), 0);
  EXPECT_THAT(Blocks(), ElementsAre(GotBack(block)));
}

TEST_F(DriverContexts, PhysicalMemoryIsNoContexts) {
  const int properties[] = {1, 0, 1, 3};
  std::uint64_t handle = 0;
  const auto create = Find<int (*)(std::uint64_t*, std::size_t, const int*, unsigned long long)>("cuMemCreate");
  ASSERT_EQ(create(&handle, kMiB, properties, 0), 0);
  Blocks();
  ASSERT_EQ(OfDevice("cuDevicePrimaryCtxReset_v2"), 0);
  EXPECT_THAT(Blocks(), IsEmpty());
  ASSERT_EQ(Find<int (*)(std::uint64_t)>("cuMemRelease")(handle), 0);
  EXPECT_THAT(Blocks(), ElementsAre(GotBack(handle)));
}

TEST_F(DriverContexts, AnotherContextEndsWithWhatWasGivenInIt) {
  const std::uint64_t before = Block();
  void* context = nullptr;
  ASSERT_EQ(Find<int (*)(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 3), 0);
  const std::uint64_t inside = Block();
  Blocks();
  ASSERT_EQ(OfDevice("cuDevicePrimaryCtxReset_v2"), 0);
  EXPECT_THAT(Blocks(), ElementsAre(GotBack(before))) << "the other context goes on";
  ASSERT_EQ(Find<int (*)(void*)>("cuCtxDestroy_v2")(context), 0);
  EXPECT_THAT(Blocks(), ElementsAre(GotBack(inside)));
}

// Last: it leaves the fake driver without a context.
TEST_F(DriverContexts, TheLastReleaseOfAContextEndsIt) {
  const std::uint64_t block = Block();
  Blocks();
  ASSERT_EQ(OfDevice("cuDevicePrimaryCtxRelease_v2"), 0);
  EXPECT_THAT(Blocks(), IsEmpty()) << "somebody else holds it";
  ASSERT_EQ(OfDevice("cuDevicePrimaryCtxRelease_v2"), 0);
  EXPECT_THAT(Blocks(), ElementsAre(GotBack(block)));
}

TEST_F(DriverContexts, StreamOrderedMemoryIsOfItsPoolsDevice) {
  std::uint64_t address = 0;
  ASSERT_EQ(Find<int (*)(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync")(&address, kMiB, nullptr), 0);
  const auto events = Blocks();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].device, 1) << "the current device is 3";
}

TEST_F(DriverContexts, MemoryThatIsOpenedTwiceIsClosedTwice) {
  struct Handle {
    char bytes[64];
  };
  const auto open = Find<int (*)(std::uint64_t*, Handle, unsigned)>("cuIpcOpenMemHandle_v2");
  const auto close = Find<int (*)(std::uint64_t)>("cuIpcCloseMemHandle");
  std::uint64_t first = 0, second = 0;
  ASSERT_EQ(open(&first, {}, 0) + open(&second, {}, 0), 0);
  ASSERT_EQ(first, second);
  EXPECT_THAT(Blocks(), ElementsAre(Gave(DriverCall::kIpcOpen, 5 * kMiB, "interpose_driver_contexts_test")));
  ASSERT_EQ(close(first), 0);
  EXPECT_THAT(Blocks(), IsEmpty()) << "it is open still";
  ASSERT_EQ(close(first), 0);
  EXPECT_THAT(Blocks(), ElementsAre(GotBack(first)));
}

TEST_F(DriverContexts, AnArrayCountsWithItsElements) {
  struct Shape {
    std::size_t width, height;
    int format;
    unsigned channels;
  };
  constexpr int kHalf = 0x10;
  const Shape shape{256, 64, kHalf, 4};
  void* array = nullptr;
  ASSERT_EQ(Find<int (*)(void**, const Shape*)>("cuArrayCreate_v2")(&array, &shape), 0);
  ASSERT_EQ(Find<int (*)(void*)>("cuArrayDestroy")(array), 0);
  EXPECT_THAT(Blocks(), ElementsAre(Gave(DriverCall::kMalloc, 256u * 64 * 2 * 4, "interpose_driver_contexts_test"),
                                    GotBack(Address(array))));
}

}  // namespace
}  // namespace memoir
