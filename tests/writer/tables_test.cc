// The writer's bounded tables, and the parsing of records, each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tests/writer/recording.h"
#include "tracker/writer/dictionaries/content_ids.h"
#include "tracker/writer/dictionaries/names.h"
#include "tracker/writer/events/event_group.h"
#include "tracker/writer/file/process_facts.h"
#include "tracker/writer/state/current_holdings.h"
#include "tracker/writer/state/live_block_table.h"
#include "tracker/writer/state/memory_state.h"
#include "tracker/writer/state/range_stack.h"

namespace memoir::test {
namespace {

// Notes that the holder has these tensors, by their impl.
void Hold(CurrentHoldings* held, HolderKind kind, std::uint64_t owner, const std::vector<std::uint64_t>& impls) {
  HoldsRecord record{};
  record.header = {sizeof record / 8, RecordKind::kHolds, static_cast<std::uint8_t>(kind), 0, 0};
  record.owner = owner;
  record.tensor_count = static_cast<std::uint32_t>(impls.size());
  std::vector<TensorRecord> tensors(impls.size());
  EventGroup group;
  group.kind = RecordKind::kHolds;
  group.header = &record.header;
  for (std::size_t i = 0; i < impls.size(); ++i) {
    tensors[i].header = {sizeof(TensorRecord) / 8, RecordKind::kTensor, 0, 0, 0};
    tensors[i].impl = impls[i];
    group.tensors.push_back(&tensors[i]);
  }
  held->Note(1, group);
}

// (kind, owner, impls) of all that is held.
using Holds = std::vector<std::tuple<HolderKind, std::uint64_t, std::vector<std::uint64_t>>>;
Holds HeldBy(const CurrentHoldings& held) {
  Holds seen;
  held.ForEach([&](CurrentHoldings::Copy& copy) {
    const auto& record = copy.group.As<HoldsRecord>();
    std::vector<std::uint64_t> impls;
    for (const TensorRecord* tensor : copy.tensors) impls.push_back(tensor->impl);
    seen.emplace_back(static_cast<HolderKind>(record.header.flags), record.owner, impls);
  });
  return seen;
}

TEST(CurrentHoldings, HasTheNewestOfEachHolder) {
  CurrentHoldings held;
  Hold(&held, HolderKind::kModule, 7, {1, 2});
  Hold(&held, HolderKind::kMore, 0, {3});
  Hold(&held, HolderKind::kOptimizer, 9, {1, 2, 3});
  Hold(&held, HolderKind::kOptimizer, 9, {});  // as before
  Hold(&held, HolderKind::kGradient, 0, {1, 11});
  Hold(&held, HolderKind::kGradient, 0, {2, 12});
  Hold(&held, HolderKind::kGradient, 0, {1, 21});
  Hold(&held, HolderKind::kModule, 8, {5});
  const Holds expected = {{HolderKind::kModule, 7, {1, 2}},       {HolderKind::kMore, 0, {3}},
                          {HolderKind::kOptimizer, 9, {1, 2, 3}}, {HolderKind::kModule, 8, {5}},
                          {HolderKind::kGradient, 0, {2, 12}},    {HolderKind::kGradient, 0, {1, 21}}};
  EXPECT_EQ(HeldBy(held), expected);
  Hold(&held, HolderKind::kModule, 7, {4});
  EXPECT_EQ(HeldBy(held).size(), 5u) << "what went on with its old record is gone with it";
  EXPECT_EQ(HeldBy(held)[2], Holds::value_type(HolderKind::kModule, 7, {4})) << "said last";
}

TEST(CurrentHoldings, GradientsOfLongAgoGoFirst) {
  CurrentHoldings held;
  Hold(&held, HolderKind::kModule, 7, {1});
  constexpr std::uint64_t kGradients = 2 * kMostHeldBytes / (sizeof(HoldsRecord) + 2 * sizeof(TensorRecord));
  for (std::uint64_t i = 1; i <= kGradients; ++i) Hold(&held, HolderKind::kGradient, 0, {100 + i, i});
  const Holds seen = HeldBy(held);
  EXPECT_EQ(seen.front(), Holds::value_type(HolderKind::kModule, 7, {1}));
  EXPECT_EQ(seen.back(), Holds::value_type(HolderKind::kGradient, 0, {100 + kGradients, kGradients}));
  EXPECT_NEAR(static_cast<double>(seen.size()), kGradients / 2.0, 2);
  Hold(&held, HolderKind::kModule, 8, std::vector<std::uint64_t>(kMostHeldBytes / sizeof(TensorRecord), 3));
  EXPECT_EQ(HeldBy(held), seen) << "more than there is room for, by itself: it goes, and nothing else";
}

TEST(LiveBlockTable, EqualsAMap) {
  LiveBlockTable table(3000);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> expected;  // serial
  std::mt19937_64 random(3);
  for (std::uint64_t serial = 1; serial < 200'000; ++serial) {
    const auto device = static_cast<std::uint32_t>(random() % 2);
    const std::uint64_t address = random() % 5000 * 64;
    const std::pair key{device, address};
    LiveBlock block;
    if (random() % 5 < 2) {
      const bool known = table.Remove(device, address, serial, &block);
      ASSERT_EQ(known, expected.contains(key));
      if (known) {
        ASSERT_EQ(block.serial, expected[key]);
      }
      expected.erase(key);
      continue;
    }
    const LiveBlockTable::AddResult added = table.Add(
        {.address = address, .bytes = 1, .serial = serial, .device = static_cast<std::uint16_t>(device)}, &block);
    if (expected.contains(key)) {
      ASSERT_EQ(added, LiveBlockTable::AddResult::kReplaced);
      ASSERT_EQ(block.serial, expected[key]);
    } else {
      ASSERT_EQ(added, expected.size() < 3000 ? LiveBlockTable::AddResult::kNew : LiveBlockTable::AddResult::kFull);
    }
    if (added != LiveBlockTable::AddResult::kFull) expected[key] = serial;
    ASSERT_EQ(table.size(), expected.size());
  }
  EXPECT_GT(table.untracked(), 0u);
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> visited;
  table.ForEach([&](const LiveBlock& block) { visited[{block.device, block.address}] = block.serial; });
  EXPECT_EQ(visited, expected);
}

// A thread that was preempted between its tick and its record is merged late.
TEST(LiveBlockTable, SerialsDecideWhatCameFirst) {
  LiveBlockTable table;
  LiveBlock block;
  table.Add({.address = 64, .bytes = 10, .serial = 7}, &block);
  EXPECT_FALSE(table.Remove(0, 64, 6, &block)) << "the deallocation of the block before";
  EXPECT_EQ(table.Add({.address = 64, .bytes = 20, .serial = 5}, &block), LiveBlockTable::AddResult::kStale);
  EXPECT_TRUE(table.Remove(0, 64, 8, &block));
  EXPECT_EQ(block.bytes, 10u);
}

TEST(MemoryState, LostDeallocationsKeepTheSums) {
  MemoryState state;
  state.Allocate({.address = 64, .bytes = 10, .serial = 1, .tick = 5, .thread = 1, .operator_id = 3});
  state.Allocate({.address = 64,
                  .bytes = 30,
                  .serial = 3,
                  .tick = 6,
                  .thread = 1,
                  .operator_id = 4});  // what was at 64 must have been freed
  EXPECT_EQ(state.devices()[0].live_bytes, 30u);
  EXPECT_EQ(state.devices()[0].live_blocks, 1u);
  EXPECT_EQ(state.operators()[3].deallocated_bytes, 10u);
  state.Deallocate(0, 64, 4);
  state.Deallocate(0, 4096, 5);  // from before the recording
  EXPECT_EQ(state.devices()[0].live_bytes, 0u);
  EXPECT_EQ(state.devices()[0].peak_bytes, 30u);
  EXPECT_EQ(state.devices()[0].deallocations, 2u);
}

TEST(ContentIds, AreBoundedAndNeverReused) {
  ContentIds ids;
  std::map<std::uint32_t, std::uint64_t> meaning;
  for (std::uint64_t number = 0; number < 3 * kMaxContents; ++number) {
    const ContentIds::Result first = ids.Find(HashBytes(&number, sizeof(number)), 1);
    ASSERT_TRUE(first.needs_definition);
    ASSERT_TRUE(meaning.emplace(first.id, number).second) << "an id that means two things";
    const ContentIds::Result again = ids.Find(HashBytes(&number, sizeof(number)), 1);
    ASSERT_EQ(again.id, first.id);
    ASSERT_FALSE(again.needs_definition);
    ASSERT_TRUE(ids.Find(HashBytes(&number, sizeof(number)), 2).needs_definition) << "in another part";
    ASSERT_LE(ids.size(), kMaxContents + 1);
  }
}

TEST(Names, AreBoundedAndKeepWhatIsUsed) {
  const Recording recording;
  const std::unique_ptr<RingReader> ring(RingReader::OpenLive());
  std::uint32_t used = 0;
  Names names(*ring, [&used](std::unordered_set<std::uint32_t>* ids) { ids->insert(used); });
  used = names.FindText("kept")->id;
  const std::uint32_t other = names.FindText("text 0")->id;
  for (std::size_t i = 0; i < 2 * kMaxTexts; ++i) names.FindText("text " + std::to_string(i));
  ASSERT_NE(names.FindById(used), nullptr);
  EXPECT_EQ(names.FindById(used)->text, "kept");
  EXPECT_EQ(names.FindText("kept")->id, used);
  EXPECT_EQ(names.FindById(other), nullptr);
  EXPECT_NE(names.FindText("text 0")->id, other);
}

OpenRange Range(EventKind kind, std::uint32_t name, std::uint32_t operator_id) {
  OpenRange range;
  range.kind = kind;
  range.name = name;
  range.operator_id = operator_id;
  return range;
}

TEST(Names, NotesAreInEveryPartUpToABound) {
  const Recording recording;
  const std::unique_ptr<RingReader> ring(RingReader::OpenLive());
  Names names(*ring, [](std::unordered_set<std::uint32_t>*) {});
  const std::string note = "torch.compile: code\t/a.py\nl\t1";
  const std::uint32_t id = names.FindText(note)->id;
  for (std::size_t i = 0; i < 2 * kMaxTexts; ++i) names.FindText("text " + std::to_string(i));
  EXPECT_EQ(names.FindText(note)->id, id);
  std::string first, again, next;
  names.DefineNotes(1, &first);
  names.DefineNotes(1, &again);
  names.DefineNotes(2, &next);
  memoir::v1::Payload payload;
  ASSERT_TRUE(payload.ParseFromString(first));
  ASSERT_EQ(payload.names_size(), 1);
  EXPECT_EQ(payload.names(0).text(), note);
  EXPECT_EQ(again, "");
  EXPECT_EQ(next, first);
  for (std::size_t i = 0; i < 4 * kMaxNoteBytes / 1000; ++i)
    names.FindText("torch.compile: code\t" + std::string(980, 'a') + std::to_string(i));
  std::string all;
  names.DefineNotes(3, &all);
  EXPECT_LT(all.size(), kMaxNoteBytes * 5 / 4);
  EXPECT_GT(all.size(), kMaxNoteBytes / 2);
}

TEST(RangeStack, OperatorIsTheOutermostWithASchema) {
  RangeStack stack;
  EXPECT_EQ(stack.leaf(), 0u);
  stack.Push(Range(EventKind::kRangeBeginUser, 1, 0));
  EXPECT_EQ(stack.outermost_operator(), 0u);
  stack.Push(Range(EventKind::kRangeBeginFunction, 2, 12));
  stack.Push(Range(EventKind::kRangeBeginFunction, 3, 13));
  EXPECT_EQ(stack.outermost_operator(), 12u);
  EXPECT_EQ(stack.leaf(), 3u);
  stack.Pop();
  EXPECT_EQ(stack.outermost_operator(), 12u);
  stack.Pop();
  EXPECT_EQ(stack.outermost_operator(), 0u);
  stack.SetDepth(4);  // after a loss
  EXPECT_EQ(stack.depth(), 4u);
  EXPECT_EQ(stack.leaf(), 0u);
}

TEST(RangeStack, DeepRecursionIsCountedNotKept) {
  RangeStack stack;
  for (std::uint32_t i = 1; i <= 5000; ++i) stack.Push(Range(EventKind::kRangeBeginUser, i, 0));
  EXPECT_EQ(stack.depth(), 5000u);
  EXPECT_EQ(stack.kept().size(), kMaxKeptRanges);
  for (int i = 0; i < 4999; ++i) stack.Pop();
  EXPECT_EQ(stack.leaf(), 1u);
}

TEST(ProcessInfo, FitsItsPlaceInTheRing) {
  ProcessFacts facts = SomeFacts();
  facts.program = std::string(10'000, 'p');
  facts.sources.assign(30, std::string(500, 's'));
  const std::string bytes = EncodeProcessInfo(facts, {1, 2, 3}, "/ring", 3900);
  EXPECT_LE(bytes.size(), 3900u);
  memoir::v1::ProcessInfo process;
  ASSERT_TRUE(process.ParseFromString(AddPartNumber(bytes, 7)));
  EXPECT_EQ(process.part(), 7u);
  EXPECT_EQ(process.ring_path(), "/ring");
  EXPECT_EQ(process.start().realtime_ns(), 3u);
}

// Records in two segments, with room to damage them.
class TwoSegments : public testing::Test {
 protected:
  template <typename Record>
  void Put(int segment, Record record, std::size_t more = 0) {
    record.header.words = static_cast<std::uint16_t>((sizeof(record) + more) / 8);
    std::memcpy(bytes_[segment] + used_[segment], &record, sizeof(record));
    used_[segment] += sizeof(record) + more;
  }
  static RangeBeginRecord Begin(std::uint32_t tensors) {
    RangeBeginRecord record{};
    record.header.kind = RecordKind::kRangeBegin;
    record.tick = 5;
    record.tensor_count = tensors;
    return record;
  }
  static TensorRecord Tensor(std::uint64_t impl) {
    TensorRecord record{};
    record.header = {0, RecordKind::kTensor, kContiguous, 0, 0};
    record.impl = impl;
    return record;
  }
  static StepRecord Step(std::uint64_t step) { return {{0, RecordKind::kStep, 0, 0, 0}, 6, step}; }

  ThreadRecords::PeekResult Read(std::uint64_t second_first, std::uint64_t seen, int segments = 2,
                                 std::uint64_t next_record = 0) {
    const RingExtentView views[2] = {{0, 1, 0, bytes_[0], bytes_[0] + used_[0], true, 0},
                                     {1, 1, second_first, bytes_[1], bytes_[1] + used_[1], false, 0}};
    records_.Reset(views, static_cast<std::size_t>(segments), next_record);
    return records_.Peek(&group_, seen);
  }

  alignas(8) std::uint8_t bytes_[2][1024] = {};
  std::size_t used_[2] = {};
  ThreadRecords records_;
  EventGroup group_;
};

TEST_F(TwoSegments, GroupsStraddle) {
  Put(0, Begin(3));
  Put(0, Tensor(1));
  Put(1, Tensor(2));
  Put(1, Tensor(3));
  Put(1, Step(9));
  EXPECT_EQ(Read(2, 0, 1), ThreadRecords::PeekResult::kIncomplete);
  ASSERT_EQ(Read(2, 0), ThreadRecords::PeekResult::kGroup);
  EXPECT_EQ(group_.records, 4u);
  EXPECT_EQ(group_.tensors[2]->impl, 3u);
  records_.Advance();
  ASSERT_EQ(records_.Peek(&group_, 0), ThreadRecords::PeekResult::kGroup);
  EXPECT_EQ(group_.kind, RecordKind::kStep);
  EXPECT_EQ(group_.first_record, 4u);
  records_.Advance();
  EXPECT_EQ(records_.Peek(&group_, 0), ThreadRecords::PeekResult::kNothing);
  EXPECT_EQ(records_.LastVisibleRecord(), 5u);
}

TEST_F(TwoSegments, AGapInAGroupIsBelievedWhenSeenBefore) {
  Put(0, Begin(3));
  Put(0, Tensor(1));
  Put(1, Tensor(3));
  EXPECT_EQ(Read(3, 0), ThreadRecords::PeekResult::kIncomplete) << "the scan may have missed a segment";
  ASSERT_EQ(Read(3, 4), ThreadRecords::PeekResult::kGroup);
  EXPECT_EQ(group_.records, 2u);
  records_.Advance();
  EXPECT_EQ(records_.Peek(&group_, 4), ThreadRecords::PeekResult::kNothing) << "a tensor without its begin is no event";
  Put(0, Step(1));
  EXPECT_EQ(Read(5, 0), ThreadRecords::PeekResult::kGroup) << "an event ends what came before";
}

TEST_F(TwoSegments, RecordsOnFileAreSkipped) {
  Put(0, Begin(1));
  Put(0, Tensor(1));
  Put(1, Step(1));
  Put(1, Step(2));
  ASSERT_EQ(Read(2, kAllSeen, 2, 3), ThreadRecords::PeekResult::kGroup);
  EXPECT_EQ(group_.As<StepRecord>().step, 2u);
  EXPECT_EQ(Read(2, kAllSeen, 2, 4), ThreadRecords::PeekResult::kNothing);
}

TEST_F(TwoSegments, DamageEndsASegmentNotTheRing) {
  Put(0, Step(1));
  Put(0, Step(2));
  Put(1, Step(4));
  const std::size_t second = sizeof(StepRecord);
  std::mt19937 random(1);
  const std::vector<std::uint8_t> good(bytes_[0], bytes_[0] + used_[0]);
  for (int i = 0; i < 20'000; ++i) {
    std::copy(good.begin(), good.end(), bytes_[0]);
    for (int flips = 0; flips < 3; ++flips) bytes_[0][second + random() % 8] = static_cast<std::uint8_t>(random());
    ASSERT_EQ(Read(3, kAllSeen), ThreadRecords::PeekResult::kGroup);
    int events = 0;
    bool last_found = false;
    do {
      ++events;
      last_found = group_.first_record == 3;
      records_.Advance();
    } while (records_.Peek(&group_, kAllSeen) == ThreadRecords::PeekResult::kGroup);
    ASSERT_GE(events, 2);
    ASSERT_TRUE(last_found);
  }
}

TEST_F(TwoSegments, LengthsBeyondTheSegmentAreRefused) {
  Put(0, Step(1));
  EXPECT_EQ(RingReader::RecordBytes(bytes_[0], bytes_[0] + sizeof(StepRecord)), sizeof(StepRecord));
  EXPECT_EQ(RingReader::RecordBytes(bytes_[0], bytes_[0] + sizeof(StepRecord) - 8), 0u);
  RangeBeginRecord begin = Begin(0);
  begin.list_count = 0xffffffff;
  Put(1, begin);
  EXPECT_EQ(RingReader::RecordBytes(bytes_[1], bytes_[1] + 1024), 0u);
  MarkRecord mark{{3, RecordKind::kMark, 0, 0, 0}, 1, ~std::uint64_t{0}};
  std::memcpy(bytes_[1], &mark, sizeof(mark));
  EXPECT_EQ(RingReader::RecordBytes(bytes_[1], bytes_[1] + 1024), 0u);
}

}  // namespace
}  // namespace memoir::test
