// When queued work counts as done: at once, or late, and never by the clock.
#include "simcuda/machine/stream_progress.h"

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

constexpr StreamNumber kMain = NumberOf(0, 0), kSide = NumberOf(0, 1), kElsewhere = NumberOf(1, 2);

void QueueOn(StreamProgress& progress, StreamNumber stream, int pieces) {
  for (int i = 0; i < pieces; ++i) progress.Queue(stream);
}

TEST(StreamProgress, WithoutDelayAllIsDone) {
  StreamProgress progress(0);
  progress.Queue(kMain);
  StreamMark mark = progress.Record(kMain);
  EXPECT_TRUE(progress.IsDone(mark));
  EXPECT_TRUE(progress.IsIdle(kMain));
}

TEST(StreamProgress, DoneAfterSoManyPiecesOnThatDevice) {
  StreamProgress progress(3);
  progress.Queue(kMain);
  StreamMark mark = progress.Record(kMain);
  EXPECT_FALSE(progress.IsDone(mark));
  EXPECT_FALSE(progress.IsIdle(kMain));
  QueueOn(progress, kElsewhere, 10);
  EXPECT_FALSE(progress.IsDone(mark)) << "another device";
  QueueOn(progress, kSide, 3);
  EXPECT_TRUE(progress.IsDone(mark));
}

TEST(StreamProgress, AGraphIsAsManyPiecesAsItHas) {
  StreamProgress progress(10);
  progress.Queue(kMain, 4);
  StreamMark mark = progress.Record(kMain);
  progress.Queue(kMain, 9);
  EXPECT_FALSE(progress.IsDone(mark));
  progress.Queue(kMain);
  EXPECT_TRUE(progress.IsDone(mark));
}

TEST(StreamProgress, NothingQueuedIsDone) {
  StreamProgress progress(5);
  QueueOn(progress, kMain, 2);
  StreamMark mark = progress.Record(kSide);
  EXPECT_TRUE(progress.IsDone(mark)) << "the other stream's work is not before it";
}

TEST(StreamProgress, WaitingFinishesWhatLiesBefore) {
  StreamProgress progress(100);
  progress.Queue(kSide);
  StreamMark side = progress.Record(kSide);
  progress.Wait(kMain, side);
  progress.Queue(kMain);
  progress.Queue(kSide);
  StreamMark later = progress.Record(kSide);
  EXPECT_FALSE(progress.IsDone(side));
  progress.FinishStream(kMain);
  EXPECT_TRUE(progress.IsDone(side)) << "main came after it";
  EXPECT_FALSE(progress.IsDone(later)) << "and not after that";
  progress.FinishMark(later);
  EXPECT_TRUE(progress.IsDone(later));
}

TEST(StreamProgress, AMarkAfterAWaitIsDoneWithBoth) {
  StreamProgress progress(100);
  progress.Queue(kSide);
  progress.Wait(kMain, progress.Record(kSide));
  StreamMark mark = progress.Record(kMain);
  EXPECT_FALSE(progress.IsDone(mark)) << "nothing on its own stream, but what that waits for";
  progress.FinishDevice(0);
  EXPECT_TRUE(progress.IsDone(mark));
}

// Nothing was queued on the first device: its stream only waits for one of the second device.
TEST(StreamProgress, AStreamOfAnotherDeviceIsWaitedFor) {
  StreamProgress progress(100);
  progress.Queue(kElsewhere);
  progress.Wait(kMain, progress.Record(kElsewhere));
  StreamMark mark = progress.Record(kMain);
  EXPECT_FALSE(progress.IsDone(mark));
  EXPECT_FALSE(progress.IsIdle(kMain));
  progress.FinishStream(kElsewhere);
  EXPECT_TRUE(progress.IsDone(mark));
  EXPECT_TRUE(progress.IsIdle(kMain));
}

// A program, or NCCL's watchdog, that asks until it is told.
TEST(StreamProgress, WhoAsksWhileNothingComesIsToldInTheEnd) {
  StreamProgress progress(1000);
  progress.Queue(kMain);
  StreamMark mark = progress.Record(kMain), other = mark;
  for (int i = 1; i < StreamProgress::kPatience; ++i) ASSERT_FALSE(progress.IsDone(mark)) << i;
  progress.Queue(kSide);
  for (int i = 1; i < StreamProgress::kPatience; ++i) ASSERT_FALSE(progress.IsDone(mark)) << i;
  EXPECT_TRUE(progress.IsDone(mark));
  EXPECT_TRUE(progress.IsDone(mark));
  EXPECT_FALSE(progress.IsDone(other)) << "who polls one event does not change what is said of another";
  progress.Queue(kMain);
  for (int i = 1; i < StreamProgress::kPatience; ++i) ASSERT_FALSE(progress.IsIdle(kMain)) << i;
  EXPECT_TRUE(progress.IsIdle(kMain));
}

}  // namespace
}  // namespace memoir::simcuda
