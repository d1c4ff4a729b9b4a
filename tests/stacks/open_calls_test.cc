// Open calls against frames that this test makes itself: what is recorded where ends are missing, and where another
// stack of frames takes the place of one, as greenlets do.
#include "tracker/stacks/open_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/stacks/made_frames.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;

struct Definition {
  const char* name;
};

class OpenCallsTest : public MadeFramesTest {
 protected:
  static const char* At(const MadeFrame& frame) { return reinterpret_cast<const char*>(&frame); }
  static void Call(const MadeFrame& frame) { RecordCall(kMadeLayout, At(frame)); }
  static void Return(const MadeFrame& frame) { RecordReturn(kMadeLayout, At(frame)); }
  static void BuiltinCall(const MadeFrame& frame) {
    RecordBuiltinCall(kMadeLayout, At(frame), {reinterpret_cast<const char*>(&kLen), nullptr});
  }
  static void BuiltinReturn(const MadeFrame& frame) { RecordBuiltinReturn(kMadeLayout, At(frame)); }

  // "+2": a call begins with two around it, "+2 c": of a function in C; "-1": one ends with one around it.
  std::vector<std::string> Recorded() {
    std::vector<std::string> found;
    std::array<RingExtentView, 8> views;
    for (std::size_t i = 0, count = reader_->Scan(views.data(), views.size()); i < count; ++i) {
      std::uint64_t records = 0;
      for (const std::uint8_t* at = views[i].begin; at < views[i].end; ++records) {
        CallRecord record;
        std::memcpy(&record, at, sizeof record);
        const bool begins = record.header.kind == RecordKind::kCallBegin;
        found.push_back((begins ? "+" : "-") + std::to_string(record.around) + (IsBuiltin(record.code) ? " c" : ""));
        at += std::size_t{record.header.words} * 8;
      }
      reader_->Consume(views[i], views[i].end, records);
    }
    return found;
  }
  bool IsBuiltin(std::uint32_t name) {
    NameView view;
    return reader_->FindName(name, &view) &&
           std::string(view.text, view.text_bytes).starts_with("<built-in function len>");
  }

  static constexpr Definition kLen{"len"};
  const MadeCode code_{.type = made_code_type.data()};
  const MadeFrame main_{nullptr, &code_}, work_{&main_, &code_}, leaf_{&work_, &code_};
};

TEST_F(OpenCallsTest, CallsAndReturnsAreRecordedAsTheyCome) {
  Call(main_);
  Call(work_);
  BuiltinCall(work_);
  BuiltinReturn(work_);
  Return(work_);
  Return(main_);
  EXPECT_THAT(Recorded(), ElementsAre("+0", "+1", "+2 c", "-2", "-1", "-0"));
}

TEST_F(OpenCallsTest, TheFirstEventRecordsAllThatIsOpen) {
  Call(leaf_);
  EXPECT_THAT(Recorded(), ElementsAre("+0", "+1", "+2"));
  SetRecordingLevel(RecordingLevel::kOff);
  Return(leaf_);
  SetRecordingLevel(RecordingLevel::kAll);
  BuiltinReturn(work_);
  EXPECT_THAT(Recorded(), ElementsAre("+0", "+1")) << "as the frames are then; what returned in C is not known";
}

TEST_F(OpenCallsTest, AnEndThatWasNotSeenIsMadeUpFor) {
  Call(main_);
  Call(work_);
  BuiltinCall(work_);
  Call(leaf_);  // by the builtin, or by work: both are so
  BuiltinCall(work_);
  EXPECT_THAT(Recorded(), ElementsAre("+0", "+1", "+2 c", "+3", "-2", "+2 c"));
  const MadeFrame other{&main_, &code_};
  Call(other);
  EXPECT_THAT(Recorded(), ElementsAre("-1", "+1"));
  Return(leaf_);  // not a known call
  Return(main_);
  EXPECT_THAT(Recorded(), ElementsAre("-0"));
}

TEST_F(OpenCallsTest, AnotherStackOfFramesTakesThePlaceOfOne) {
  const MadeFrame root{nullptr, &code_}, inner{&root, &code_}, between{&inner, &code_, 3}, called{&between, &code_};
  Call(main_);
  Call(work_);
  Call(called);
  EXPECT_THAT(Recorded(), ElementsAre("+0", "+1", "-0", "+0", "+1", "+2")) << "what holds no function is no call";
  Return(leaf_);
  Call(leaf_);
  EXPECT_THAT(Recorded(), ElementsAre("-0", "+0", "+1", "+2"));
}

TEST_F(OpenCallsTest, DeeperThanThereIsRoomFor) {
  std::vector<MadeFrame> frames(9000, MadeFrame{nullptr, &code_});
  for (std::size_t i = 1; i < frames.size(); ++i) frames[i].previous = &frames[i - 1];
  for (const MadeFrame& frame : frames) Call(frame);
  for (std::size_t i = frames.size(); i-- > 0;) Return(frames[i]);
  std::vector<std::string> found = Recorded();
  while (found.empty() || found.back() != "-0") {
    const std::vector<std::string> more = Recorded();
    ASSERT_FALSE(more.empty());
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(found.size(), 2 * 8000u);
  EXPECT_EQ(found[7999], "+7999");
  EXPECT_EQ(found[8000], "-7999");
  EXPECT_EQ(RingReadCounters().deep_calls, 1000u);
}

}  // namespace
}  // namespace memoir
