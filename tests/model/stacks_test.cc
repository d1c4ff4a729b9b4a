// Python stacks in a replay: their frames, that ranks share them, and their fate if events are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/model/capture.h"
#include "tools/model/event/dictionary_ids.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ProcessBuilder;
using testing::TemporaryFolder;

// Each stack as "thread: file:line function < file:line function", innermost first.
class StackLines : public Visitor {
 public:
  std::vector<std::string> lines;
  std::vector<StackId> stacks;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnStack(const StackEvent& event) override {
    const Dictionary& dictionary = state_->dictionary();
    std::string line = std::to_string(dictionary.thread(event.thread).number) + (event.before ? " before:" : ":");
    for (const Frame& frame : dictionary.Frames(event.stack)) {
      const Code& code = dictionary.code(frame.code);
      line += " " + code.file + ":" + std::to_string(frame.line) + " " + code.function;
    }
    lines.push_back(line);
    stacks.push_back(event.stack);
  }

 private:
  const ReplayState* state_ = nullptr;
};

void Replay(const TemporaryFolder& folder, StackLines& lines) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  const absl::StatusOr<ReplayReport> report = capture->Replay(lines);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->damage, IsEmpty());
}

TEST(Stacks, AreShownInnermostFirst) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Stack({{"train.py", "main", 87}, {"model.py", "Block.forward", 12}});
  process.Begin("aten::add").Allocate(0x1000, 64).End();
  process.OnThread(2).Stack({{"<string>", "<module>", 1}}).OnThread(1);
  process.Stack({{"train.py", "main", 88}}).Stack({});
  process.WriteTo(folder.path());
  StackLines shown;
  Replay(folder, shown);
  EXPECT_THAT(shown.lines, ElementsAre("1: model.py:12 Block.forward train.py:87 main", "2: <string>:1 <module>",
                                       "1: train.py:88 main", "1:"));
}

TEST(Stacks, AreTheSameOfEveryRank) {
  const TemporaryFolder folder;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    testing::ProcessOptions options;
    options.rank = rank;
    options.world_size = 2;
    options.pid = 100 + rank;
    ProcessBuilder process(options);
    if (rank == 1) process.Stack({{"other.py", "f", 1}});  // so that numbers differ
    process.Stack({{"train.py", "main", 87}, {"model.py", "forward", 12}}).WriteTo(folder.path());
  }
  StackLines shown;
  Replay(folder, shown);
  ASSERT_EQ(shown.stacks.size(), 3u);
  EXPECT_EQ(shown.stacks[0], shown.stacks[2]);
  EXPECT_NE(shown.stacks[0], shown.stacks[1]);
}

TEST(Stacks, LastOverChunksAndParts) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Stack({{"train.py", "main", 1}}).Mark("a").EndChunk().Mark("b").EndPart().Mark("c");
  process.Stack({{"train.py", "main", 2}});
  process.WriteTo(folder.path());
  StackLines shown;
  Replay(folder, shown);
  EXPECT_THAT(shown.lines, ElementsAre("1: train.py:1 main", "1: train.py:2 main"));
}

TEST(Stacks, AreKnownBehindWhatIsGone) {
  const TemporaryFolder folder;
  ProcessBuilder process;
  process.Mark("a").EndPart().Stack({{"train.py", "main", 1}}).EndPart().Mark("b").RemovePart(1);
  process.WriteTo(folder.path());
  StackLines shown;
  Replay(folder, shown);
  EXPECT_THAT(shown.lines, ElementsAre("1 before: train.py:1 main"));
}

// Each block as "bytes: own functions | functions of the forward operator", innermost first.
class BlockLines : public Visitor {
 public:
  std::vector<std::string> lines;

  void OnStart(const ReplayState& state) override { state_ = &state; }
  void OnAllocate(const AllocateEvent& event) override {
    lines.push_back(std::to_string(event.block->bytes) + ":" + Functions(event.block->callstack) + " |" +
                    Functions(event.block->forward_callstack));
  }

 private:
  std::string Functions(StackId id) const {
    std::string text;
    for (const Frame& frame : state_->dictionary().Frames(id))
      text += " " + state_->dictionary().code(frame.code).function;
    return text;
  }
  const ReplayState* state_ = nullptr;
};

std::vector<std::string> LinesOf(ProcessBuilder& process, bool modules = true) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  BlockLines shown;
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  ReplayOptions options;
  options.modules = modules;
  EXPECT_TRUE(capture.ok() && capture->Replay(shown, options).ok());
  return shown.lines;
}

const std::vector<ProcessBuilder::PythonFrame> kMain = {{"train.py", "main", 1}},
                                               kForward = {{"train.py", "main", 1}, {"net.py", "forward", 2}},
                                               kHook = {{"train.py", "main", 1}, {"net.py", "hook", 2}};

void TrainOnce(ProcessBuilder& process) {
  process.Stack(kForward).BeginForward("aten::mm", 7).Allocate(0x1000, 1).End();
  process.Stack(kMain).BeginText("autograd::engine::evaluate_function: MmBackward0");
  process.BeginBackward("MmBackward0", 7, 1).Allocate(0x2000, 2).Stack(kHook).Allocate(0x3000, 3).Stack(kMain);
  process.BeginForward("aten::mul", 8).End().Allocate(0x4000, 4).End().Allocate(0x5000, 5).End();
  process.BeginBackward("MulBackward0", 8, 1).Allocate(0x6000, 6).End().Stack({}).Allocate(0x7000, 7);
}

TEST(Stacks, OfWhatANodeMakesAreThoseOfItsForwardOperator) {
  ProcessBuilder process;
  TrainOnce(process);
  EXPECT_THAT(LinesOf(process),
              ElementsAre("1: forward main |", "2: main | forward main", "3: hook main |", "4: main | forward main",
                          "5: main | forward main", "6: main | forward main", "7: |"));
}

TEST(Stacks, OfAThreadWithoutPythonFrames) {
  ProcessBuilder process;
  process.WorksFor(3, 1).Stack(kForward).BeginForward("aten::mm", 7);
  process.OnThread(3).Allocate(0x1000, 1).OnThread(1).End();
  process.OnThread(2).BeginBackward("MmBackward0", 7, 1).Allocate(0x2000, 2).End();
  EXPECT_THAT(LinesOf(process), ElementsAre("1: forward main |", "2: | forward main"));
}

TEST(Stacks, OfBlocksFromAKeyframe) {
  ProcessBuilder process;
  process.Stack(kForward).Allocate(0x1000, 1).EndPart().Mark("a").RemovePart(0);
  EXPECT_THAT(LinesOf(process), ElementsAre("1: forward main |"));
}

class NumberedStacks : public ::testing::Test {
 protected:
  void Define(std::uint32_t id, std::uint32_t parent, std::uint32_t code = 1, std::uint32_t line = 1) {
    v1::StackDef def;
    def.set_id(id);
    def.set_parent(parent);
    def.set_code(code);
    def.set_line(line);
    payload_.stacks.push_back(def);
  }
  Payload payload_;
  Dictionary dictionary_;
  Symbols symbols_;
  DictionaryIds ids_{ProcessId{0}, &dictionary_, symbols_};
};

TEST_F(NumberedStacks, NoneIsInsideItself) {
  Define(1, 1);
  Define(2, 3);
  Define(3, 2);
  Define(4, 0);
  Define(5, 4);
  Define(4, 5);  // again, as something else
  ids_.Define(payload_);
  for (const std::uint32_t id : {0u, 1u, 2u, 3u, 77u, 0xffffffffu}) EXPECT_FALSE(ids_.stack(id).valid()) << id;
  EXPECT_EQ(dictionary_.Frames(ids_.stack(5)).size(), 2u);
  EXPECT_EQ(dictionary_.Frames(ids_.stack(4)).size(), 3u);
  ids_.ForgetPart();
  EXPECT_FALSE(ids_.stack(5).valid());
}

TEST_F(NumberedStacks, EndAtABoundNoProgramReaches) {
  for (std::uint32_t id = 1; id <= Dictionary::kMostFrames + 2; ++id) Define(id, id - 1);
  ids_.Define(payload_);
  EXPECT_EQ(dictionary_.Frames(ids_.stack(Dictionary::kMostFrames)).size(), std::size_t{Dictionary::kMostFrames});
  EXPECT_FALSE(ids_.stack(Dictionary::kMostFrames + 1).valid());
  EXPECT_FALSE(ids_.stack(Dictionary::kMostFrames + 2).valid());
}

TEST_F(NumberedStacks, NativeFramesOfAThreadGoInsideThePythonThatItWorksFor) {
  v1::NameDef object;
  object.set_id(2);
  object.set_kind(v1::NameDef::CODE);
  object.set_code_file("/t/libtorch.so");
  object.set_text(
      "\x7f"
      "ELF0123");
  payload_.names.push_back(object);
  Define(1, 0);           // Python
  Define(2, 1, 2, 0x10);  // native inside it
  Define(3, 0, 2, 0x20);  // native alone
  Define(4, 3, 2, 0x30);
  ids_.Define(payload_);
  const StackId python = ids_.stack(1), inside = ids_.stack(2), alone = ids_.stack(4);
  EXPECT_EQ(dictionary_.PythonPart(inside), python);
  EXPECT_FALSE(dictionary_.PythonPart(alone).valid());
  EXPECT_EQ(dictionary_.code(dictionary_.stack(inside).frame.code),
            (Code{"/t/libtorch.so", "+0x10", "/t/libtorch.so"}));
  EXPECT_EQ(ids_.WorkingStack(inside, alone), inside);
  EXPECT_EQ(ids_.WorkingStack(StackId(), inside), inside);
  EXPECT_EQ(ids_.WorkingStack(alone, StackId()), alone);
  const StackId joined = ids_.WorkingStack(alone, inside);
  EXPECT_EQ(dictionary_.PythonPart(joined), python);
  EXPECT_EQ(dictionary_.Frames(joined).size(), 3u);
  EXPECT_EQ(ids_.NativeFramesUnder(inside, python), inside);
  EXPECT_EQ(ids_.NativeFramesUnder(python, inside), inside);
  EXPECT_EQ(ids_.NativeFramesUnder(inside, alone), alone);
}

TEST_F(NumberedStacks, CodeThatNobodyDefinedIsUnknown) {
  Define(1, 0, 99, 7);
  ids_.Define(payload_);
  const std::vector<Frame> frames = dictionary_.Frames(ids_.stack(1));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(dictionary_.code(frames[0].code).function, "(unknown)");
  EXPECT_EQ(frames[0].line, 7u);
}

}  // namespace
}  // namespace memoir
