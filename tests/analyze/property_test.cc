// Random programs against a model that shares nothing with the reader: a list of events, walked naively. Whatever the
// window and the grouping, rows must equal the model's and sum to the device's totals.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"
#include "tools/analyze/time/over_time_curves.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::ProcessOptions;
using testing::TemporaryFolder;

// One allocation or deallocation, with all that a grouping can ask for.
struct NaiveEvent {
  bool allocate;
  std::size_t block;  // index into NaiveProgram::blocks
  bool in_window;     // inside of a range "window"
};
struct NaiveBlock {
  std::uint64_t bytes;
  std::uint32_t device;
  std::map<GroupBy, std::string> group;
  bool born_in_window;
};
struct NaiveProgram {
  std::vector<NaiveBlock> blocks;
  std::vector<NaiveEvent> events;
  std::vector<std::size_t> window_ends;  // number of events before each end of the window
};

// Writes a random program, and notes what it does.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed), process_(Options(seed)) {
    process_.AddDevice("cuda", 0);
    for (int i = 0; i < 1500; ++i) Act();
    for (std::uint32_t thread = 1; thread <= 3; ++thread) {
      while (!stacks_[thread].empty()) EndOn(thread);
    }
  }
  ProcessBuilder& process() { return process_; }
  const NaiveProgram& naive() const { return naive_; }

 private:
  struct Range {
    std::string name;
    bool is_operator;
    bool user;
  };
  static ProcessOptions Options(std::uint64_t seed) {
    ProcessOptions options;
    options.chunk_events = 20 + seed % 200;
    return options;
  }
  std::uint64_t Upto(std::uint64_t n) { return random_() % n; }

  void Act() {
    const auto thread = static_cast<std::uint32_t>(1 + Upto(3));
    process_.OnThread(thread);
    const std::uint64_t what = Upto(100);
    if (what < 20)
      BeginOn(thread);
    else if (what < 40)
      EndOn(thread);
    else if (what < 75)
      Allocate(thread);
    else if (what < 98)
      Deallocate();
    else
      process_.EndChunk(Upto(2) == 0);
  }
  void BeginOn(std::uint32_t thread) {
    if (stacks_[thread].size() > 8) return;
    const std::uint64_t kind = Upto(10);
    if (kind < 6) {
      const std::string name = "aten::op" + std::to_string(Upto(6));
      process_.Begin(name);
      stacks_[thread].push_back({name, true, false});
    } else if (kind < 8) {
      process_.BeginText("node" + std::to_string(Upto(3)));
      stacks_[thread].push_back({"", false, false});
    } else {
      const std::string name = Upto(2) == 0 ? "window" : "other";
      process_.BeginUser(name);
      stacks_[thread].push_back({name, false, true});
      windows_ += name == "window";
    }
  }
  void EndOn(std::uint32_t thread) {
    if (stacks_[thread].empty()) return;
    process_.OnThread(thread).End();
    if (stacks_[thread].back().name == "window" && --windows_ == 0) naive_.window_ends.push_back(naive_.events.size());
    stacks_[thread].pop_back();
  }
  void Allocate(std::uint32_t thread) {
    std::uint64_t address = 0x1000 + 64 * Upto(400);
    const auto device = static_cast<std::uint32_t>(Upto(2));
    while (live_.count({device, address}) != 0) address += 64;
    NaiveBlock block{1 + Upto(1000), device, {}, windows_ > 0};
    block.group[GroupBy::kOperator] = "(no operator)";
    block.group[GroupBy::kRange] = "(no range)";
    block.group[GroupBy::kThread] = "thread " + std::to_string(thread);
    for (auto range = stacks_[thread].rbegin(); range != stacks_[thread].rend(); ++range) {
      if (range->is_operator) block.group[GroupBy::kOperator] = range->name;
      if (range->user && block.group[GroupBy::kRange] == "(no range)") block.group[GroupBy::kRange] = range->name;
    }
    process_.Allocate(address, block.bytes, device);
    live_[{device, address}] = naive_.blocks.size();
    naive_.events.push_back({true, naive_.blocks.size(), windows_ > 0});
    naive_.blocks.push_back(block);
  }
  void Deallocate() {
    if (live_.empty()) return;
    auto victim = live_.begin();
    std::advance(victim, Upto(live_.size()));
    process_.Deallocate(victim->first.second, victim->first.first);
    naive_.events.push_back({false, victim->second, windows_ > 0});
    live_.erase(victim);
  }

  std::mt19937_64 random_;
  ProcessBuilder process_;
  NaiveProgram naive_;
  std::map<std::uint32_t, std::vector<Range>> stacks_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> live_;
  int windows_ = 0;
};

using Amounts = std::map<std::string, std::uint64_t>;
struct NaiveDevice {
  std::uint64_t peak = 0;
  Amounts live, at_peak, at_end, allocated;
};

std::uint64_t SumOf(const Amounts& amounts) {
  std::uint64_t sum = 0;
  for (const auto& [name, bytes] : amounts) sum += bytes;
  return sum;
}

// The peak, and the end, of a window or of the whole, by group; O(events * groups), so that there is nothing to get
// wrong.
NaiveDevice Walk(const NaiveProgram& program, std::uint32_t device, GroupBy by, bool window, bool forget) {
  NaiveDevice result;
  const auto group_of = [&](const NaiveBlock& block) {
    const std::string& group = block.group.at(by);
    if (!window || block.born_in_window) return group;
    const bool named = by != GroupBy::kThread && !group.starts_with('(');
    return named ? group + " (before the window)" : std::string("(before the window)");
  };
  bool was_in_window = !window;
  for (std::size_t i = 0; i <= program.events.size(); ++i) {
    const bool at_end =
        window ? std::count(program.window_ends.begin(), program.window_ends.end(), i) > 0 : i == program.events.size();
    const auto note_peak = [&] {
      if (SumOf(result.live) <= result.peak) return;
      result.peak = SumOf(result.live);
      result.at_peak = result.live;
    };
    if (at_end) result.at_end = result.live;
    if (at_end && window) note_peak();  // a window in which nothing happens has what was live before
    if (i == program.events.size()) break;
    const NaiveEvent& event = program.events[i];
    const NaiveBlock& block = program.blocks[event.block];
    const bool counts = !window || event.in_window;
    // A window that opens sees what is live before its first event.
    if (counts && !was_in_window) note_peak();
    was_in_window = counts;
    if (block.device != device || (forget && !block.born_in_window)) continue;
    std::uint64_t& live = result.live[group_of(block)];
    live = event.allocate ? live + block.bytes : live - block.bytes;
    if (event.allocate && counts) result.allocated[group_of(block)] += block.bytes;
    if (counts) note_peak();
  }
  return result;
}

std::uint64_t AmountOf(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

void ExpectEqual(const Summary& summary, const NaiveDevice& expected, std::size_t column) {
  const DeviceRow& device = summary.devices[column];
  EXPECT_EQ(device.peak_allocated_bytes, expected.peak);
  EXPECT_EQ(device.live_bytes_at_end, SumOf(expected.at_end));
  EXPECT_EQ(device.allocated_bytes, SumOf(expected.allocated));
  if (summary.windows == 1) {  // between windows something may change that is in none of them
    EXPECT_EQ(device.live_bytes_at_begin + device.allocated_bytes - device.deallocated_bytes, device.live_bytes_at_end);
  }
  SummaryColumns sum;
  for (const SummaryRow& row : summary.rows) {
    const SummaryColumns& columns = row.by_device[column];
    EXPECT_EQ(columns.bytes_at_peak, AmountOf(expected.at_peak, row.name)) << row.name;
    EXPECT_EQ(columns.net_bytes, AmountOf(expected.at_end, row.name)) << row.name;
    EXPECT_EQ(columns.allocated_bytes, AmountOf(expected.allocated, row.name)) << row.name;
    sum += columns;
  }
  EXPECT_EQ(sum.bytes_at_peak, device.peak_allocated_bytes);
  EXPECT_EQ(sum.blocks_at_peak, device.peak_blocks);
  EXPECT_EQ(sum.net_bytes, device.live_bytes_at_end);
  EXPECT_EQ(sum.net_blocks, device.live_blocks_at_end);
  EXPECT_EQ(sum.allocated_bytes, device.allocated_bytes);
  EXPECT_EQ(sum.deallocated_bytes, device.deallocated_bytes);
}

class PropertyTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    program_.process().WriteTo(folder_.path());
    absl::StatusOr<Capture> capture = Capture::Open(folder_.path());
    ASSERT_TRUE(capture.ok()) << capture.status();
    capture_.emplace(*std::move(capture));
  }
  RandomProgram program_{static_cast<std::uint64_t>(GetParam())};
  TemporaryFolder folder_;
  std::optional<Capture> capture_;
};

TEST_P(PropertyTest, EveryGroupingSumsToTheDevices) {
  for (const GroupBy by : {GroupBy::kOperator, GroupBy::kRange, GroupBy::kThread}) {
    SummaryOptions options;
    options.by = by;
    const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture_, options);
    ASSERT_TRUE(summary.ok());
    ASSERT_EQ(summary->devices.size(), 2u);
    for (std::uint32_t device = 0; device < 2; ++device) {
      ExpectEqual(*summary, Walk(program_.naive(), device, by, false, false), device);
    }
    EXPECT_EQ(summary->report.late_events + summary->report.replaced_blocks + summary->report.unmatched_deallocations +
                  summary->report.keyframe_mismatches + summary->report.lost_records,
              0u);
  }
}

TEST_P(PropertyTest, WindowsSumToo) {
  for (const GroupBy by : {GroupBy::kOperator, GroupBy::kRange, GroupBy::kThread}) {
    SummaryOptions options;
    options.by = by;
    options.window = SelectionWindow::Range("window");
    const absl::StatusOr<Summary> summary = AnalyzeSummary(*capture_, options);
    ASSERT_TRUE(summary.ok());
    for (std::uint32_t device = 0; device < 2; ++device) {
      ExpectEqual(*summary, Walk(program_.naive(), device, by, true, false), device);
    }
  }
}

TEST_P(PropertyTest, LiveSetAtThePeakIsTheSummarys) {
  LiveBlockTableOptions options;
  options.largest = 1'000'000;
  const absl::StatusOr<LiveBlockTable> live = AnalyzeLiveBlockTable(*capture_, options);
  ASSERT_TRUE(live.ok());
  ASSERT_EQ(live->devices.size(), 2u);
  for (const LiveDevice& device : live->devices) {
    const NaiveDevice expected = Walk(program_.naive(), device.name == "cpu" ? 0 : 1, GroupBy::kOperator, false, false);
    EXPECT_EQ(device.live_bytes, expected.peak);
    std::uint64_t rows = 0, blocks = 0;
    for (const LiveRow& row : device.rows) {
      EXPECT_EQ(row.bytes, AmountOf(expected.at_peak, row.name)) << row.name;
      rows += row.bytes;
    }
    for (const LiveBlock& block : device.largest) blocks += block.bytes;
    EXPECT_EQ(rows, expected.peak);
    EXPECT_EQ(blocks, expected.peak);
  }
}

TEST_P(PropertyTest, CurveHasThePeak) {
  OverTimeOptions options;
  options.buckets = 17;
  const absl::StatusOr<OverTimeCurves> curve = AnalyzeOverTime(*capture_, options);
  ASSERT_TRUE(curve.ok());
  for (const DeviceCurve& device : curve->devices) {
    const std::uint64_t peak =
        Walk(program_.naive(), device.name == "cpu" ? 0 : 1, GroupBy::kOperator, false, false).peak;
    EXPECT_EQ(device.allocated.peak_bytes, peak);
    EXPECT_EQ(*std::max_element(device.allocated.max_bytes.begin(), device.allocated.max_bytes.end()), peak);
  }
}

TEST_P(PropertyTest, TreeSumsToTheTotal) {
  RangeTreeOptions options;
  options.depth = 1 + static_cast<std::uint32_t>(GetParam() % 7);
  options.width = 1 + static_cast<std::size_t>(GetParam() % 4);
  const absl::StatusOr<RangeTree> tree = AnalyzeRangeTree(*capture_, options);
  ASSERT_TRUE(tree.ok());
  std::uint64_t allocated = 0, net = 0, peaks = 0;
  for (std::uint32_t device = 0; device < 2; ++device) {
    const NaiveDevice expected = Walk(program_.naive(), device, GroupBy::kOperator, false, false);
    peaks += expected.peak;
    allocated += SumOf(expected.allocated);
    net += SumOf(expected.at_end);
  }
  std::uint64_t self = 0, self_net = 0;
  for (const RangeNode& node : tree->nodes) {
    EXPECT_LE(node.depth, options.depth + (node.kind == RangeNode::Kind::kDeeper ? 1 : 0));
    EXPECT_LE(node.children.size(), options.width + 1);
    self += node.self_bytes;
    self_net += node.self_net_bytes;
    std::uint64_t below = node.self_bytes;
    for (const std::uint32_t child : node.children) below += tree->nodes[child].allocated_bytes;
    EXPECT_EQ(node.allocated_bytes, below) << node.name;
    std::uint64_t at_peak = 0;
    for (const TreeMemory& memory : node.memory) at_peak += memory.bytes_at_peak;
    for (const std::uint32_t child : node.children) at_peak += tree->nodes[child].bytes_at_peak;
    if (node.kind != RangeNode::Kind::kOther && node.kind != RangeNode::Kind::kDeeper) {
      EXPECT_EQ(node.bytes_at_peak, at_peak) << node.name;
    }
  }
  EXPECT_EQ(tree->nodes[0].bytes_at_peak, peaks);
  EXPECT_EQ(self, allocated);
  EXPECT_EQ(self_net, net);
  EXPECT_EQ(tree->nodes[0].allocated_bytes, allocated);
}

// Live bytes after every event, as the replay follows them.
class LiveAfterEvery : public Visitor {
 public:
  void OnAllocate(const AllocateEvent& event) override { Add(event.block->device, event.block->bytes); }
  void OnDeallocate(const DeallocateEvent& event) override { Add(event.block->device, ~event.block->bytes + 1); }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> steps;

 private:
  void Add(DeviceId device, std::uint64_t bytes) { steps.emplace_back(device.value, live_[device] += bytes); }
  std::map<DeviceId, std::uint64_t> live_;
};

TEST_P(PropertyTest, LiveBytesAfterEveryEvent) {
  LiveAfterEvery visitor;
  ASSERT_TRUE(capture_->Replay(visitor).ok());
  const NaiveProgram& naive = program_.naive();
  ASSERT_EQ(visitor.steps.size(), naive.events.size());
  std::map<std::uint32_t, std::uint64_t> live;
  for (std::size_t i = 0; i < naive.events.size(); ++i) {
    const NaiveBlock& block = naive.blocks[naive.events[i].block];
    std::uint64_t& bytes = live[block.device];
    bytes = naive.events[i].allocate ? bytes + block.bytes : bytes - block.bytes;
    ASSERT_EQ(visitor.steps[i].second, bytes) << "event " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, PropertyTest, ::testing::Range(1, 41));

}  // namespace
}  // namespace memoir
