// Snapshots of torch's allocator open as captures: the views show their facts, and show facts that they lack as
// unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/import/pickles.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/model/import_source.h"

namespace memoir {
namespace {

using ::testing::AllOf;
using testing::Block;
using testing::Dict;
using testing::Entry;
using testing::Frame;
using ::testing::HasSubstr;
using testing::Int;
using testing::List;
using testing::Pair;
using testing::Pickle;
using testing::PickleFile;
using testing::Segment;
using testing::Snapshot;
using testing::Text;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kBase = 0x7f0000000000, kTime = 1'700'000'000'000'000;

std::string At(std::uint64_t line) { return List({Frame("/src/train.py", "train", line)}); }

absl::StatusOr<Summary> Summarised(const std::string& bytes, GroupBy by = GroupBy::kLine) {
  const PickleFile file(bytes);
  absl::StatusOr<Capture> capture = Capture::Open(file.path());
  if (!capture.ok()) return capture.status();
  SummaryOptions options;
  options.by = by;
  return AnalyzeSummary(*capture, options);
}

std::uint64_t AtPeak(const Summary& summary, const std::string& name) {
  for (const SummaryRow& row : summary.rows) {
    if (row.name == name) return row.total.bytes_at_peak;
  }
  return 0;
}

std::string ErrorOf(const std::string& bytes) {
  const PickleFile file(bytes);
  const absl::StatusOr<Capture> capture = Capture::Open(file.path());
  std::string message(capture.status().message());
  EXPECT_EQ(message.find('\n'), message.npos);
  EXPECT_THAT(message, HasSubstr(file.path()));
  return message;
}

// One segment; two blocks, of which the first is freed.
const std::vector<std::string> kTrace = {
    Entry("segment_alloc", kBase, 20 * kMiB, kTime, At(1)), Entry("alloc", kBase, 12 * kMiB, kTime + 10, At(1)),
    Entry("alloc", kBase + 12 * kMiB, 4 * kMiB, kTime + 20, At(2)),
    Entry("free_requested", kBase, 12 * kMiB, kTime + 30), Entry("free_completed", kBase, 12 * kMiB, kTime + 30)};
const std::vector<std::string> kSegments = {
    Segment(kBase, 20 * kMiB,
            {Block(kBase, 12 * kMiB, "inactive"), Block(kBase + 12 * kMiB, 4 * kMiB, "active_allocated", At(2)),
             Block(kBase + 16 * kMiB, 4 * kMiB, "inactive")})};

TEST(Snapshot, IsItsHistory) {
  const auto summary = Summarised(Snapshot(kSegments, {kTrace}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->devices.size(), 1u);
  const DeviceRow& device = summary->devices[0];
  EXPECT_EQ(device.name, "cuda:0");
  EXPECT_EQ(device.peak_allocated_bytes, 16 * kMiB);
  EXPECT_EQ(device.peak_reserved_bytes, 20 * kMiB);
  EXPECT_EQ(device.peak_ns, 20'000u);
  EXPECT_EQ(device.num_alloc_retries, std::nullopt);
  EXPECT_EQ(summary->report.statistics_mismatches, 0u);
  EXPECT_EQ(AtPeak(*summary, "/src/train.py:1 train"), 12 * kMiB);
  EXPECT_EQ(AtPeak(*summary, "/src/train.py:2 train"), 4 * kMiB);
}

TEST(Snapshot, CountsEntriesOfUnknownActions) {
  std::vector<std::string> trace = kTrace;
  trace.insert(trace.begin() + 2, 3, Entry("frobnicate", kBase, 512, kTime + 15));
  const auto summary = Summarised(Snapshot(kSegments, {trace}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 16 * kMiB);
  ASSERT_EQ(summary->report.processes[0].unrecorded.size(), 1u);
  EXPECT_THAT(summary->report.processes[0].unrecorded[0].why, HasSubstr("3 entries of the trace are left out"));
}

TEST(Snapshot, IsKnownAsOne) {
  const PickleFile file(Snapshot(kSegments, {kTrace}));
  const auto capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_TRUE(IsImported(*capture));
  ASSERT_EQ(capture->processes().size(), 1u);
  EXPECT_EQ(capture->processes()[0].info.program(), "snapshot.pickle");
  EXPECT_FALSE(HasCutHistory(capture->processes()[0]));
  EXPECT_FALSE(HasNoHistory(capture->processes()[0]));
}

// max_entries is reached: of what was live before the first entry left the segments have the stacks.
TEST(Snapshot, MayHaveLostItsFirstEntries) {
  const PickleFile file(Snapshot(kSegments, {{kTrace.begin() + 3, kTrace.end()}}));
  const auto capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_TRUE(HasCutHistory(capture->processes()[0]));
  EXPECT_FALSE(HasNoHistory(capture->processes()[0]));
  const auto summary = Summarised(Snapshot(kSegments, {{kTrace.begin() + 3, kTrace.end()}}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 16 * kMiB);
  EXPECT_EQ(AtPeak(*summary, "/src/train.py:2 train (before the window)"), 4 * kMiB);
  EXPECT_EQ(AtPeak(*summary, "(before the window)"), 12 * kMiB);
  EXPECT_EQ(summary->report.statistics_mismatches, 0u);
}

TEST(Snapshot, MayHaveNoHistory) {
  for (const std::string& bytes :
       {Snapshot(kSegments, {{}}), Snapshot(kSegments, {}), Pickle(Dict({{"segments", List(kSegments)}}))}) {
    const PickleFile file(bytes);
    const auto capture = Capture::Open(file.path());
    ASSERT_TRUE(capture.ok()) << capture.status();
    EXPECT_TRUE(HasNoHistory(capture->processes()[0]));
    const auto summary = Summarised(bytes);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 4 * kMiB);
    EXPECT_EQ(summary->devices[0].reserved_bytes_at_end, 20 * kMiB);
  }
}

TEST(Snapshot, MayBeEmpty) {
  const auto summary = Summarised(Snapshot({}, {{}, {}}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_TRUE(summary->devices.empty());
}

TEST(Snapshot, HasOutOfMemoryErrors) {
  std::vector<std::string> trace = kTrace;
  trace.push_back(Entry("oom", 3 * kMiB, 100 * kMiB, kTime + 40, At(9)));
  const auto summary = Summarised(Snapshot(kSegments, {trace}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].num_ooms, 1u);
  ASSERT_EQ(summary->out_of_memory.size(), 1u);
  EXPECT_EQ(summary->out_of_memory[0].asked_bytes, 100 * kMiB);
  EXPECT_EQ(summary->out_of_memory[0].device_free, 3 * kMiB);
}

TEST(Snapshot, HasExpandableSegments) {
  const std::vector<std::string> trace = {Entry("segment_map", kBase, 20 * kMiB, kTime),
                                          Entry("segment_map", kBase + 20 * kMiB, 20 * kMiB, kTime + 1),
                                          Entry("alloc", kBase, 30 * kMiB, kTime + 2, At(1)),
                                          Entry("free_requested", kBase, 30 * kMiB, kTime + 3),
                                          Entry("free_completed", kBase, 30 * kMiB, kTime + 3),
                                          Entry("segment_unmap", kBase, 40 * kMiB, kTime + 4)};
  const auto summary = Summarised(Snapshot({}, {trace}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 30 * kMiB);
  EXPECT_EQ(summary->devices[0].peak_reserved_bytes, 40 * kMiB);
  EXPECT_EQ(summary->devices[0].reserved_bytes_at_end, 0u);
  EXPECT_EQ(summary->report.statistics_mismatches, 0u);
}

TEST(Snapshot, MayHaveKeysThatNobodyKnows) {
  testing::Items more = {{"host_segments", List({Dict({{"x", List({Int(1)})}})})},
                         {"host_traces", List({List({Dict({{"y", Text("z")}})})})},
                         {"from_the_future", Dict({{"segments", Int(3)}})}};
  std::vector<std::string> trace = kTrace;
  trace.push_back(Dict({{"action", Text("workspace_snapshot")}, {"addr", Int(1)}, {"frames", List({})}}));
  const auto summary = Summarised(Snapshot(kSegments, {trace}, more));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 16 * kMiB);
}

// stacks="all", torch's default: no line of Python in a backward pass, but the node and the operator.
TEST(Snapshot, TellsOperatorsByFramesOfCpp) {
  const std::string forward =
      List({Frame("??", "torch::unwind::unwind()", 0), Frame("??", "at::_ops::empty_memory_format::call(int)", 0),
            Frame("??", "at::_ops::addmm::call(at::Tensor const&)", 0), Frame("/src/train.py", "train", 7),
            Frame("??", "_start", 0)});
  const std::string backward =
      List({Frame("??", "at::_ops::mm::call(at::Tensor const&)", 0),
            Frame("??", "torch::autograd::generated::AddmmBackward0::apply(int)", 0),
            Frame("??", "torch::autograd::Engine::evaluate_function(int)", 0), Frame("clone.S", "clone", 0)});
  const std::vector<std::string> trace = {Entry("segment_alloc", kBase, 20 * kMiB, kTime),
                                          Entry("alloc", kBase, kMiB, kTime + 1, forward),
                                          Entry("alloc", kBase + kMiB, 2 * kMiB, kTime + 2, backward)};
  const std::vector<std::string> segments = {Segment(
      kBase, 20 * kMiB,
      {Block(kBase, kMiB, "active_allocated", forward), Block(kBase + kMiB, 2 * kMiB, "active_allocated", backward),
       Block(kBase + 3 * kMiB, 17 * kMiB, "inactive")})};
  const auto by_operator = Summarised(Snapshot(segments, {trace}), GroupBy::kOperator);
  ASSERT_TRUE(by_operator.ok()) << by_operator.status();
  EXPECT_EQ(AtPeak(*by_operator, "aten::addmm"), kMiB);
  EXPECT_EQ(AtPeak(*by_operator, "aten::mm"), 2 * kMiB);
  const auto by_line = Summarised(Snapshot(segments, {trace}));
  ASSERT_TRUE(by_line.ok()) << by_line.status();
  EXPECT_EQ(AtPeak(*by_line, "/src/train.py:7 train"), kMiB);
  EXPECT_EQ(AtPeak(*by_line, "(backward) AddmmBackward0"), 2 * kMiB);
  const auto by_category = Summarised(Snapshot(segments, {trace}), GroupBy::kCategory);
  ASSERT_TRUE(by_category.ok()) << by_category.status();
  EXPECT_EQ(AtPeak(*by_category, "unknown"), 3 * kMiB) << "which no tensor can tell";
}

TEST(Snapshot, TakesMetadataAndAnnotationsAsRanges) {
  const std::vector<std::string> trace = {Entry("segment_alloc", kBase, 20 * kMiB, kTime),
                                          Dict({{"action", Text("alloc")},
                                                {"addr", Int(kBase)},
                                                {"size", Int(kMiB)},
                                                {"stream", Int(0)},
                                                {"time_us", Int(kTime + 1)},
                                                {"user_metadata", Text("layer 3")},
                                                {"compile_context", Text("N/A")}}),
                                          Entry("alloc", kBase + kMiB, 2 * kMiB, kTime + 5)};
  const std::vector<std::string> segments = {
      Segment(kBase, 20 * kMiB,
              {Block(kBase, kMiB, "active_allocated"), Block(kBase + kMiB, 2 * kMiB, "active_allocated"),
               Block(kBase + 3 * kMiB, 17 * kMiB, "inactive")})};
  const auto annotation = [](const char* stage, std::uint64_t us) {
    return Dict({{"stage", Text(stage)}, {"name", Text("epoch")}, {"device", Int(0)}, {"time_us", Int(us)}});
  };
  const auto summary = Summarised(
      Snapshot(segments, {trace},
               {{"external_annotations", List({annotation("START", kTime + 4), annotation("END", kTime + 6)})}}),
      GroupBy::kRange);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(AtPeak(*summary, "layer 3"), kMiB);
  EXPECT_EQ(AtPeak(*summary, "epoch"), 2 * kMiB);
}

// As many as a hostile file has: ended in the order of their begin, each end would close all that are inside.
TEST(Snapshot, BoundsHowManyAnnotationsAreOpen) {
  constexpr std::uint64_t kMany = 70'000;  // more than ranges of a capture can be nested
  std::vector<std::string> annotations;
  for (const char* stage : {"START", "END"}) {
    for (std::uint64_t i = 0; i < kMany; ++i) {
      annotations.push_back(Dict({{"stage", Text(stage)},
                                  {"name", Text("a" + std::to_string(i))},
                                  {"device", Int(0)},
                                  {"time_us", Int(kTime + (*stage == 'S' ? 1 : 9))}}));
    }
  }
  const std::vector<std::string> trace = {Entry("segment_alloc", kBase, 20 * kMiB, kTime),
                                          Entry("alloc", kBase, 2 * kMiB, kTime + 5)};
  const std::vector<std::string> segments = {Segment(
      kBase, 20 * kMiB, {Block(kBase, 2 * kMiB, "active_allocated"), Block(kBase + 2 * kMiB, 18 * kMiB, "inactive")})};
  const auto summary =
      Summarised(Snapshot(segments, {trace}, {{"external_annotations", List(annotations)}}), GroupBy::kRange);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(AtPeak(*summary, "a999"), 2 * kMiB) << "the innermost of those that are told";
  EXPECT_TRUE(summary->report.damage.empty());
}

TEST(Snapshot, MayBePackedWithGzip) {
  const PickleFile file("", "snapshot.pickle.gz");
  const std::string bytes = Snapshot(kSegments, {kTrace});
  gzFile packed = gzopen(file.path().c_str(), "wb");
  ASSERT_EQ(gzwrite(packed, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  gzclose(packed);
  const auto capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_TRUE(IsImported(*capture));
}

TEST(NoSnapshot, IsNamedForWhatItIs) {
  EXPECT_THAT(ErrorOf(Pickle(Dict({{"state_dict", Int(1)}}))),
              AllOf(HasSubstr("no memory snapshot"), HasSubstr("torch.cuda.memory._dump_snapshot()")));
  EXPECT_THAT(ErrorOf(Pickle("N")), HasSubstr("no memory snapshot"));
  EXPECT_THAT(ErrorOf("PK\x03\x04 and so on"), AllOf(HasSubstr("zip archive"), HasSubstr("torch.save()")));
  EXPECT_THAT(ErrorOf(Pickle("ctorch._utils\n_rebuild_tensor_v2\n")),
              AllOf(HasSubstr("names torch._utils._rebuild_tensor_v2"), HasSubstr("nothing of it was executed")));
  EXPECT_THAT(ErrorOf("\x80\x02}("), HasSubstr("copy or dump it again"));
}

// A list of traces that has itself as its first and second trace: ], BINPUT 0, (, BINGET 0, BINGET 0, APPENDS.
TEST(Snapshot, MayContainItself) {
  const std::string itself = std::string("]q\0(h\0h\0e", 9);
  const auto summary = Summarised(Pickle(Dict({{"segments", List({})}, {"device_traces", itself}})));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->report.events, 0U);
}

TEST(Snapshot, HasTheBlocksOfASharedListOnce) {
  const std::string blocks = "]q" + std::string(1, '\0') + "(" + Block(kBase, 2 * kMiB, "active_allocated") + "e";
  const auto segment = [](std::uint64_t address, const std::string& list) {
    return Dict({{"device", Int(0)},
                 {"address", Int(address)},
                 {"total_size", Int(20 * kMiB)},
                 {"stream", Int(0)},
                 {"blocks", list}});
  };
  const std::string again = std::string("h\0", 2);
  const auto summary = Summarised(Pickle(
      Dict({{"segments", List({segment(kBase, blocks), segment(2 * kBase, again)})}, {"device_traces", List({})}})));
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->devices.size(), 1U);
  EXPECT_EQ(summary->devices[0].peak_allocated_bytes, 2 * kMiB);
}

TEST(Snapshot, TakesTimesThatAreNoneForNone) {
  std::vector<std::string> trace = kTrace;
  trace[1] = Entry("alloc", kBase, 12 * kMiB, ~std::uint64_t{0}, At(1));
  const auto summary = Summarised(Snapshot(kSegments, {trace}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_LT(summary->devices[0].peak_ns, 1'000'000'000U);
}

TEST(NoSnapshot, HasImpossibleSizes) {
  std::vector<std::string> trace = kTrace;
  trace[1] = Entry("alloc", kBase, std::uint64_t{1} << 62, kTime + 10, At(1));
  EXPECT_THAT(ErrorOf(Snapshot(kSegments, {trace})), HasSubstr("a size of 4611686018427387904 bytes"));
}

TEST(NoSnapshot, LeavesNothingBehind) {
  const PickleFile file(Pickle("N"));
  setenv("TMPDIR", file.folder().c_str(), 1);
  EXPECT_FALSE(Capture::Open(file.path()).ok());
  file.Write(Snapshot(kSegments, {kTrace}));
  { EXPECT_TRUE(Capture::Open(file.path()).ok()); }
  unsetenv("TMPDIR");
  const auto entries = std::filesystem::directory_iterator(file.folder());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "the snapshot itself";
}

TEST(NoSnapshot, SaysWhereItCouldNotBeConverted) {
  const PickleFile file(Snapshot(kSegments, {kTrace}));
  setenv("TMPDIR", "/nowhere/at/all", 1);
  EXPECT_THAT(std::string(Capture::Open(file.path()).status().message()), HasSubstr("TMPDIR"));
  unsetenv("TMPDIR");
}

}  // namespace
}  // namespace memoir
