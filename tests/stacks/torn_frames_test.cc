// The recorder of stacks against frames that this test makes itself: torn ones are counted and not recorded, and later
// ones are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/stacks/made_frames.h"
#include "tracker/stacks/stack_recorder.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MadeText kFile("train.py"), kMain("main"), kWork("work"), kLeaf("leaf");

class TornFramesTest : public MadeFramesTest {
 protected:
  static MadeCode CodeOf(const MadeText& function) { return {1, made_code_type.data(), &kFile, &function}; }

  static void Look(const MadeFrame* frame) {
    made_thread.frame = frame;
    RecordStackHere(kMadeLayout, RingThread(), 0, OnEmptyPool::kDrop);
  }

  // The functions of each stack that was recorded, outermost first, the frames that are kept left out.
  std::vector<std::string> Recorded() {
    std::vector<std::string> found;
    std::array<RingExtentView, 8> views;
    for (std::size_t i = 0, count = reader_->Scan(views.data(), views.size()); i < count; ++i) {
      std::uint64_t records = 0;
      for (const std::uint8_t* at = views[i].begin; at < views[i].end; ++records) {
        StackRecord record;
        std::memcpy(&record, at, sizeof record);
        std::string text = std::to_string(record.kept);
        for (std::size_t frame = 0; frame < record.header.count; ++frame)
          text += " > " + NameOf(at + sizeof record + frame * sizeof(StackFrame));
        found.push_back(text);
        at += std::size_t{record.header.words} * 8;
      }
      reader_->Consume(views[i], views[i].end, records);
    }
    return found;
  }
  std::string NameOf(const std::uint8_t* frame) {
    StackFrame recorded;
    std::memcpy(&recorded, frame, sizeof recorded);
    NameView view;
    return reader_->FindName(recorded.code, &view) ? std::string(view.text, view.text_bytes) : "?";
  }
  static std::uint64_t Unread() { return RingReadCounters().unread_stacks; }

  const MadeCode main_code_ = CodeOf(kMain), work_code_ = CodeOf(kWork), leaf_code_ = CodeOf(kLeaf);
  const MadeFrame main_{nullptr, &main_code_}, work_{&main_, &work_code_}, leaf_{&work_, &leaf_code_};
};

TEST_F(TornFramesTest, WholeOnesAreRecordedWhereTheyChange) {
  Look(&work_);
  Look(&work_);
  Look(&leaf_);
  Look(&main_);
  EXPECT_THAT(Recorded(), ElementsAre("0 > main > work", "2 > leaf", "1"));
  EXPECT_EQ(Unread(), 0u);
}

TEST_F(TornFramesTest, AFrameWithoutCodeIsCountedAndWhatComesBehindItIsRight) {
  MadeCode other = leaf_code_;
  other.type = &other;  // what lies there now is another object
  const MadeFrame torn{&work_, &other}, empty{&work_, nullptr}, outer{&empty, &leaf_code_};
  Look(&work_);
  Look(&torn);
  Look(&empty);
  Look(&outer);
  EXPECT_EQ(Unread(), 3u);
  EXPECT_THAT(Recorded(), ElementsAre("0 > main > work", "0")) << "none, for that of before would be wrong";
  Look(&work_);
  Look(&leaf_);
  EXPECT_THAT(Recorded(), ElementsAre("0 > main > work", "2 > leaf"));
  EXPECT_EQ(Unread(), 3u);
}

TEST_F(TornFramesTest, FramesThatGoInACircleEnd) {
  MadeFrame circle{&main_, &work_code_};
  const MadeFrame inner{&circle, &leaf_code_};
  circle.previous = &inner;
  Look(&inner);
  EXPECT_EQ(RingReadCounters().cut_stacks, 1u);
  MadeFrame none{nullptr, &work_code_, 3};  // owner 3: holds no function
  none.previous = &none;
  Look(&none);
  EXPECT_EQ(RingReadCounters().cut_stacks, 2u);
  (void)Recorded();
  Look(&work_);
  EXPECT_THAT(Recorded(), ElementsAre("0 > main > work"));
}

TEST_F(TornFramesTest, TheInnermostThousandAreRecorded) {
  std::vector<MadeFrame> frames(1500, MadeFrame{nullptr, &work_code_});
  for (std::size_t i = 1; i < frames.size(); ++i) frames[i].previous = &frames[i - 1];
  frames.back().code = &leaf_code_;
  Look(&frames.back());
  std::size_t count = 0;
  for (const std::string& stack : Recorded()) {
    for (std::size_t at = stack.find('>'); at != std::string::npos; at = stack.find('>', at + 1)) ++count;
    EXPECT_FALSE(stack.ends_with("?"));
  }
  EXPECT_EQ(count, 1024u);
  EXPECT_EQ(RingReadCounters().cut_stacks, 1u);
  EXPECT_EQ(Unread(), 0u);
}

// Where the text of code is torn, its frames have no name.
TEST_F(TornFramesTest, TextsThatAreNoneAreLeftOut) {
  MadeText torn("work");
  torn.state = 0;
  const MadeCode code{1, made_code_type.data(), &kFile, &torn};
  const MadeFrame frame{&main_, &code};
  Look(&frame);
  EXPECT_THAT(Recorded(), ElementsAre("0 > main > "));
  Look(nullptr);
  EXPECT_THAT(Recorded(), ElementsAre("0"));
  Look(nullptr);
  EXPECT_THAT(Recorded(), IsEmpty());
}

}  // namespace
}  // namespace memoir
