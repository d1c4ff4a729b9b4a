// Streams and events: who is one, whose device they are of, and what an event remembers.
#include "simcuda/streams/streams.h"

#include <set>

#include "gtest/gtest.h"
#include "simcuda/machine/machine.h"

namespace memoir::simcuda {
namespace {

class StreamsTest : public testing::Test {
 protected:
  void TearDown() override { SetCurrentDevice(0); }
};

TEST_F(StreamsTest, AreKnownUntilTheyAreDestroyed) {
  Stream* const stream = NewStream(1, -3);
  EXPECT_EQ(FindStream(stream), stream);
  EXPECT_EQ(stream->flags, 1u);
  EXPECT_EQ(stream->priority, -3);
  EXPECT_TRUE(DestroyStream(stream));
  EXPECT_EQ(FindStream(stream), nullptr);
  EXPECT_FALSE(DestroyStream(stream));
}

TEST_F(StreamsTest, NumbersOfDevicesAndStreamsNeverMeet) {
  std::set<StreamNumber> numbers;
  std::set<Stream*> streams;
  for (int device = 0; device < 3; ++device) {
    SetCurrentDevice(device);
    numbers.insert(FindStream(nullptr)->number());
    for (int i = 0; i < 4; ++i) streams.insert(NewStream(0, 0));
  }
  for (Stream* stream : streams) {
    numbers.insert(stream->number());
    EXPECT_EQ(DeviceOf(stream->number()), stream->device);
    EXPECT_TRUE(DestroyStream(stream));
  }
  EXPECT_EQ(numbers.size(), 15u);
}

TEST_F(StreamsTest, TheSpecialHandlesAreTheDevicesOwnStream) {
  for (int device : {0, 2}) {
    SetCurrentDevice(device);
    Stream* const own = FindStream(nullptr);
    EXPECT_EQ(own->device, device);
    EXPECT_EQ(own->id, 0u);
    for (std::uintptr_t handle : {1, 2}) EXPECT_EQ(FindStream(reinterpret_cast<void*>(handle)), own);
  }
  EXPECT_FALSE(DestroyStream(FindStream(nullptr))) << "it belongs to the device";
}

TEST_F(StreamsTest, EventsRememberWhenAndWhere) {
  Stream* const stream = NewStream(0, 0);
  Event* const event = NewEvent(2);
  EXPECT_TRUE(IsEvent(event));
  EXPECT_FALSE(event->recorded);
  RecordEvent(*event, *stream);
  const std::uint64_t first = event->nanoseconds;
  EXPECT_TRUE(event->recorded);
  EXPECT_GT(first, 0u);
  EXPECT_EQ(event->mark.stream, stream->number());
  EXPECT_EQ(event->capture_id, 0u);
  RecordEvent(*event, *FindStream(nullptr));
  EXPECT_GE(event->nanoseconds, first);
  EXPECT_EQ(event->mark.stream, FindStream(nullptr)->number());
  EXPECT_TRUE(DestroyEvent(event));
  EXPECT_FALSE(IsEvent(event));
  EXPECT_FALSE(DestroyEvent(event));
  EXPECT_TRUE(DestroyStream(stream));
}

}  // namespace
}  // namespace memoir::simcuda
