// The owner and line of a live block in keyframes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "interpose/system/tick.h"
#include "tests/writer/capture_decoder.h"
#include "tests/writer/recording.h"
#include "tests/writer/ring_producer.h"

namespace memoir::test {
namespace {

using testing::IsEmpty;

// Records short events from this thread, which is torch's number 77.
class Program {
 public:
  Program() { RingThread()->torch_id.store(77); }

  void Begin(int kind, const std::string& name, std::int64_t sequence = -1) {
    Event event = Named(kind, name);
    event.sequence = sequence;
    event.forward_thread = 77;
    Record(event);
  }
  void End() { Record(Named(memoir::v1::RANGE_END, "")); }
  void Enter(const std::string& path) { Call(memoir::v1::MODULE_ENTER, path); }
  void Exit(const std::string& path) { Call(memoir::v1::MODULE_EXIT, path); }
  void Stack(const std::vector<std::string>& functions) {
    Event event = Named(memoir::v1::STACK, "");
    for (const std::string& function : functions) event.frames.push_back({"train.py", function, 1});
    Record(event);
  }
  void Allocate(std::uint64_t address) {
    Event event = Named(memoir::v1::ALLOCATE, "");
    event.address = event.serial = address;
    event.bytes = 8;
    Record(event);
  }

 private:
  static Event Named(int kind, const std::string& name) {
    Event event;
    event.kind = kind;
    event.name = name;
    return event;
  }
  void Call(int kind, const std::string& path) {
    Event event = Named(kind, path);
    event.module_class = "Part";
    event.module_root = "Net";
    Record(event);
  }
  void Record(Event event) {
    event.tick = Tick();
    ASSERT_TRUE(producer_.Record(event));
  }
  RingProducer producer_;
};

// One block of each kind, and a call that stays open.
void RunProgram(Program& program) {
  program.Enter("");
  program.Enter("fc");
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "mm", 7);
  program.Allocate(0x1000);
  program.End();
  program.Exit("fc");
  program.Allocate(0x2000);
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "Torch-Compiled Region: 0/0");
  program.Allocate(0x3000);
  program.End();
  program.Exit("");
  program.Allocate(0x4000);
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "autograd::engine::evaluate_function: MmBackward0", 7);
  program.Begin(memoir::v1::RANGE_BEGIN_BACKWARD, "MmBackward0", 7);
  program.Allocate(0x5000);
  program.Enter("other");
  program.Allocate(0x6000);
  program.Exit("other");
  program.End();
  program.Allocate(0x7000);
  program.End();
  program.Begin(memoir::v1::RANGE_BEGIN_BACKWARD, "torch::autograd::AccumulateGrad");
  program.Enter("fc");
  program.Allocate(0x8000);
  program.End();
  program.Begin(memoir::v1::RANGE_BEGIN_USER, "Optimizer.step#AdamW.step");
  program.Allocate(0x9000);
  program.End();
  program.Enter("other");
  program.Begin(memoir::v1::RANGE_BEGIN_USER, "torch.compile: dynamo");
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "mm", 8);
  program.Allocate(0xa000);
  program.End();
  program.End();
  program.Exit("other");
  program.Enter("open");
}

const std::map<std::uint64_t, std::pair<std::string, std::uint32_t>> kPlaces = {
    {0x1000, {"Net/fc", memoir::v1::PLACE_FORWARD}},   {0x2000, {"Net/", memoir::v1::PLACE_FORWARD}},
    {0x3000, {"Net/", memoir::v1::PLACE_FORWARD + 8}}, {0x4000, {"none", memoir::v1::PLACE_OTHER}},
    {0x5000, {"Net/fc", memoir::v1::PLACE_BACKWARD}},  {0x6000, {"Net/other", memoir::v1::PLACE_RECOMPUTE}},
    {0x7000, {"Net/fc", memoir::v1::PLACE_BACKWARD}},  {0x8000, {"Net/fc", memoir::v1::PLACE_BACKWARD}},
    {0x9000, {"none", memoir::v1::PLACE_OPTIMIZER}},   {0xa000, {"none", memoir::v1::PLACE_COMPILE}}};

// More parts, so that the last one's keyframe has all of it.
void Fill(Program& program, Recording& recording) {
  for (int i = 0; i < 3000; ++i) {
    program.Begin(memoir::v1::RANGE_BEGIN_USER, "filler " + std::to_string(i));
    program.End();
    if (i % 97 == 0) recording.writer().Flush();
  }
  recording.Stop();
}

// By the rules of docs/event_schema.md.
TEST(Places, OfBlocksAndOpenCallsInKeyframes) {
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 50'000});
  Program program;
  RunProgram(program);
  Fill(program, recording);
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  ASSERT_GT(capture.parts.size(), 1u);
  const DecodedPart& part = capture.parts.back();
  const memoir::v1::Keyframe& frame = part.chunks.front().payload.keyframe();
  const auto path = [&](std::uint32_t id) { return id == 0 ? "none" : "Net/" + part.names.at(id).text(); };
  ASSERT_EQ(frame.live().place_size(), frame.live().bytes_size());
  ASSERT_EQ(frame.live().module_size(), frame.live().bytes_size());
  std::map<std::uint64_t, std::pair<std::string, std::uint32_t>> places;
  std::uint64_t address = 0;
  for (int i = 0; i < frame.live().bytes_size(); ++i) {
    address += static_cast<std::uint64_t>(frame.live().address_delta(i));
    places[address] = {path(frame.live().module(i)), frame.live().place(i)};
  }
  EXPECT_EQ(places, kPlaces);
  ASSERT_EQ(frame.open_modules_size(), 1);
  ASSERT_EQ(frame.open_modules(0).module_size(), 1);
  EXPECT_EQ(path(frame.open_modules(0).module(0)), "Net/open");
  EXPECT_EQ(frame.open_modules(0).recompute(0), 0u);
}

void RunLines(Program& program) {
  program.Stack({"main", "forward"});
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "mm", 7);
  program.Allocate(0x1000);
  program.End();
  program.Stack({"main"});
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "autograd::engine::evaluate_function: MmBackward0", 7);
  program.Begin(memoir::v1::RANGE_BEGIN_BACKWARD, "MmBackward0", 7);
  program.Allocate(0x2000);
  program.Begin(memoir::v1::RANGE_BEGIN_FUNCTION, "mul", 8);  // of a graph of the graph
  program.End();
  program.Stack({"main", "hook"});
  program.Allocate(0x3000);
  program.Stack({"main"});
  program.Allocate(0x4000);
  program.End();
  program.Allocate(0x5000);
  program.End();
  program.Begin(memoir::v1::RANGE_BEGIN_BACKWARD, "MulBackward0", 8);
  program.Allocate(0x6000);
  program.End();
  program.Stack({});
  program.Allocate(0x7000);
}

const std::map<std::uint64_t, std::pair<std::string, std::string>> kLines = {{0x1000, {"main forward", ""}},
                                                                             {0x2000, {"main", "main forward"}},
                                                                             {0x3000, {"main hook", ""}},
                                                                             {0x4000, {"main", "main forward"}},
                                                                             {0x5000, {"main", "main forward"}},
                                                                             {0x6000, {"main", "main forward"}},
                                                                             {0x7000, {"", ""}}};

TEST(Places, LinesOfBlocksInKeyframes) {
  Recording recording({.capture = "", .ring_bytes = kMinRingBytes, .max_bytes = 0, .part_bytes = 50'000});
  Program program;
  RunLines(program);
  Fill(program, recording);
  const DecodedCapture capture = DecodeFolder(recording.folder());
  EXPECT_THAT(capture.errors, IsEmpty());
  ASSERT_GT(capture.parts.size(), 1u);
  const DecodedPart& part = capture.parts.back();
  const memoir::v1::LiveBlocks& live = part.chunks.front().payload.keyframe().live();
  const auto text = [&](std::uint32_t id) {
    std::string functions;
    if (id == 0) return functions;
    for (const FrameSeen& frame : part.stacks.at(id)) functions += (functions.empty() ? "" : " ") + frame.function;
    return functions;
  };
  ASSERT_EQ(live.stack_size(), live.bytes_size());
  ASSERT_EQ(live.forward_stack_size(), live.bytes_size());
  std::map<std::uint64_t, std::pair<std::string, std::string>> lines;
  std::uint64_t address = 0;
  for (int i = 0; i < live.bytes_size(); ++i) {
    address += static_cast<std::uint64_t>(live.address_delta(i));
    lines[address] = {text(live.stack(i)), text(live.forward_stack(i))};
  }
  EXPECT_EQ(lines, kLines);
}

}  // namespace
}  // namespace memoir::test
