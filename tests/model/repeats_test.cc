// Steps that a chunk names are shown as if it had said their events; what does not fit is damage.
#include "tools/model/repeats/pattern_row_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/captures/capture_builder.h"
#include "tests/model/repeated_rows.h"
#include "tools/model/capture.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProcessBuilder;
using testing::RepeatsOf;
using testing::Stretch;
using testing::Visit;

// "allocate 64 at 1010", its tick; made-up addresses as "?".
class Lines : public Visitor {
 public:
  std::vector<std::string> lines;
  void OnStep(const StepEvent& event) override {
    lines.push_back(absl::StrCat("step ", event.step, " at ", event.tick));
  }
  void OnAllocate(const AllocateEvent& event) override {
    lines.push_back(absl::StrCat("allocate ", event.block->bytes, " at ", event.tick, Address(*event.block)));
  }
  void OnDeallocate(const DeallocateEvent& event) override {
    lines.push_back(absl::StrCat("free ", event.block->bytes, " at ", event.tick, Address(*event.block)));
  }

 private:
  static std::string Address(const Block& block) {
    return block.address >= kFirstUnknownAddress ? "" : absl::StrCat(", ", block.address);
  }
};

struct Result {
  std::vector<std::string> lines;
  ReplayReport report;
};
Result Replay(ProcessBuilder& process) {
  auto [lines, report] = Visit<Lines>(process);
  return {lines.lines, report};
}

TEST(Repeats, AreShownInTheirPlace) {
  ProcessBuilder process;
  process.Allocate(0x50, 64).Repeat(Stretch(), RepeatsOf({{7, 0, 4, 1100, 60, 0},  // frees a block from before
                                                          {7, 4, 1, 10, 0, 0},
                                                          {7, 0, 5, 90, 400, 1},
                                                          {0, 0, 1, 0, 0, 0}},
                                                         {0x50, 0x10}));
  process.DeallocateAs(2000, 0x60);
  const Result result = Replay(process);
  EXPECT_THAT(result.lines,
              ElementsAre("allocate 64 at 1000, 80", "step 40 at 1100", "allocate 64 at 1120", "allocate 8 at 1140",
                          "free 64 at 1160, 80", "free 8 at 1170", "step 41 at 1260", "allocate 64 at 1360, 96",
                          "allocate 8 at 1460", "free 64 at 1560", "free 8 at 1660", "free 64 at 1670, 96"));
  EXPECT_THAT(result.report.damage, IsEmpty());
  EXPECT_EQ(result.report.events, 12u);
  EXPECT_EQ(result.report.unmatched_deallocations + result.report.replaced_blocks + result.report.late_events, 0u);
}

TEST(Repeats, AreMergedWithRuns) {
  ProcessBuilder process;
  process.AtTick(1115).Allocate(0x100, 1).AtTick(1145).Allocate(0x200, 2);
  process.Repeat(Stretch(), RepeatsOf({{7, 0, 3, 1100, 40, 0}, {0, 0, 2, 0, 0, 0}}, {0x300, 0x10}));
  EXPECT_THAT(Replay(process).lines,
              ElementsAre("step 40 at 1100", "allocate 1 at 1115, 256", "allocate 64 at 1120, 768",
                          "allocate 8 at 1140, 784", "allocate 2 at 1145, 512"));
}

TEST(Repeats, ThatDoNotFitAreDamage) {
  const std::vector<std::pair<const char*, v1::Repeats>> damaged = {
      {"a stretch that is not known", RepeatsOf({{8, 0, 1, 1100, 0, 0}}, {})},
      {"more events than it has", RepeatsOf({{7, 2, 4, 1100, 9, 0}}, {})},
      {"behind its end", RepeatsOf({{7, 5, 1, 1100, 9, 0}}, {})},
      {"a free without address", RepeatsOf({{7, 0, 4, 1100, 9, 0}, {0, 0, 2, 0, 0, 0}}, {0x10, 0x20})},
      {"addresses of nothing", RepeatsOf({{7, 0, 1, 1100, 0, 0}, {0, 0, 2, 0, 0, 0}}, {1, 2})},
      {"addresses left over", RepeatsOf({{7, 0, 1, 1100, 0, 0}}, {1})},
  };
  for (const auto& [what, repeats] : damaged) {
    ProcessBuilder process;
    process.Mark("begin").Repeat(Stretch(), repeats).EndPart();
    process.Allocate(0x10, 16);
    const Result result = Replay(process);
    ASSERT_EQ(result.report.damage.size(), 1u) << what;
    EXPECT_THAT(result.report.damage[0].what, HasSubstr("repeats of a chunk")) << what;
    EXPECT_EQ(result.lines.back().substr(0, 11), "allocate 16") << what;  // the part behind it is read
  }
}

TEST(Repeats, OfImpossibleStretchesAreDamage) {
  std::vector<v1::StretchDef> stretches(6, Stretch());
  stretches[0].mutable_events()->set_kind(std::string(5, static_cast<char>(v1::STACK)));
  stretches[1].mutable_thread()->RemoveLast();
  stretches[2].mutable_of_host()->RemoveLast();
  stretches[3].mutable_events()->mutable_tick_delta()->RemoveLast();
  stretches[4].clear_events();
  stretches[5].set_of_host(1, 0);  // host memory is allocated at no address of a stretch
  for (const v1::StretchDef& stretch : stretches) {
    ProcessBuilder process;
    process.Mark("begin").Repeat(stretch, RepeatsOf({{7, 0, 1, 1100, 0, 0}}, {})).EndPart();
    process.Allocate(0x10, 16);
    const Result result = Replay(process);
    EXPECT_EQ(result.report.damage.size(), 1u) << stretch.ShortDebugString();
    EXPECT_EQ(result.lines.back().substr(0, 11), "allocate 16");
  }
}

}  // namespace
}  // namespace memoir
