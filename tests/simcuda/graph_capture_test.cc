// Which streams capture, and what is refused meanwhile.
#include "simcuda/streams/graph_capture.h"

#include <memory>
#include <thread>

#include "gtest/gtest.h"

namespace memoir::simcuda {
namespace {

class CaptureTest : public testing::Test {
 protected:
  ~CaptureTest() override {
    for (Stream* stream : {origin, side}) DestroyStream(stream);
    DestroyEvent(event);
  }
  std::unique_ptr<Graph> End(Stream& stream, EndResult expected) {
    Graph* graph = nullptr;
    EXPECT_EQ(EndCapture(stream, &graph), expected);
    return std::unique_ptr<Graph>(graph);
  }

  Stream* origin = NewStream(0, 0);
  Stream* side = NewStream(0, 0);
  Event* event = NewEvent(0);
};

TEST_F(CaptureTest, CountsWhatWasQueued) {
  AddNode(*origin);
  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kGlobal));
  EXPECT_FALSE(BeginCapture(*origin, CaptureMode::kGlobal));
  EXPECT_EQ(StateOf(*origin), CaptureState::kActive);
  EXPECT_NE(CaptureId(*origin), 0u);
  AddNode(*origin);
  AddNode(*side);
  AddNode(*origin);
  EXPECT_EQ(End(*origin, EndResult::kGraph)->nodes, 2u);
  EXPECT_EQ(StateOf(*origin), CaptureState::kNone);
  End(*origin, EndResult::kNotCapturing);
}

TEST_F(CaptureTest, EventsDrawOtherStreamsIn) {
  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kGlobal));
  RecordEvent(*event, *origin);
  ASSERT_TRUE(JoinByEvent(*side, *event));
  EXPECT_EQ(CaptureId(*side), CaptureId(*origin));
  EXPECT_EQ(GraphOf(*side), GraphOf(*origin));
  End(*side, EndResult::kNotTheOrigin);
  End(*origin, EndResult::kGraph);
  EXPECT_EQ(StateOf(*side), CaptureState::kNone);
  EXPECT_TRUE(JoinByEvent(*side, *event));
  EXPECT_EQ(StateOf(*side), CaptureState::kNone) << "a capture that is over draws nobody in";
}

TEST_F(CaptureTest, TwoCapturesDoNotMerge) {
  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kGlobal));
  ASSERT_TRUE(BeginCapture(*side, CaptureMode::kGlobal));
  RecordEvent(*event, *origin);
  EXPECT_FALSE(JoinByEvent(*side, *event));
  End(*side, EndResult::kGraph);
  End(*origin, EndResult::kGraph);
}

TEST_F(CaptureTest, UnsafeCallsAreRefusedAndSpoilTheCapture) {
  EXPECT_FALSE(IsRefusedByCapture());
  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kGlobal));
  EXPECT_TRUE(IsRefusedByCapture());
  EXPECT_EQ(StateOf(*origin), CaptureState::kInvalidated);
  EXPECT_EQ(End(*origin, EndResult::kInvalidated), nullptr);
  EXPECT_FALSE(IsRefusedByCapture());
}

TEST_F(CaptureTest, ModesOfThreadAndCapture) {
  const auto refused_elsewhere = [] {
    bool refused = false;
    std::thread([&] { refused = IsRefusedByCapture(); }).join();
    return refused;
  };
  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kThreadLocal));
  EXPECT_FALSE(refused_elsewhere());
  EXPECT_EQ(ExchangeThreadMode(CaptureMode::kRelaxed), CaptureMode::kGlobal);
  EXPECT_FALSE(IsRefusedByCapture());
  EXPECT_EQ(ExchangeThreadMode(CaptureMode::kGlobal), CaptureMode::kRelaxed);
  EXPECT_TRUE(IsRefusedByCapture());
  End(*origin, EndResult::kInvalidated);

  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kRelaxed));
  EXPECT_FALSE(IsRefusedByCapture());
  End(*origin, EndResult::kGraph);

  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kGlobal));
  EXPECT_TRUE(refused_elsewhere());
  End(*origin, EndResult::kInvalidated);
}

TEST_F(CaptureTest, DestroyedStreamsLeave) {
  ASSERT_TRUE(BeginCapture(*origin, CaptureMode::kGlobal));
  EXPECT_TRUE(DestroyStream(origin));
  EXPECT_FALSE(IsRefusedByCapture());
  EXPECT_FALSE(DestroyStream(origin));
  origin = NewStream(0, 0);
}

TEST_F(CaptureTest, TheDefaultStreamCannotCapture) {
  EXPECT_FALSE(BeginCapture(*FindStream(nullptr), CaptureMode::kGlobal));
}

}  // namespace
}  // namespace memoir::simcuda
