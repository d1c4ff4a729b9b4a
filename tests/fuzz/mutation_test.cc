// Damages a capture in 3,000 ways, with MEMOIR_TEST_LONG=1 in 10,000, and summarises the rest: no crash, no hang,
// bounded memory, and errors with their place.
//
// Half of the damage is to the file, where checksums find most of it; the other half is to a payload that is compressed
// and checksummed again, where no checksum helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <random>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/lives/explain.h"
#include "tools/analyze/pass/event_stream.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/time/live_block_table.h"
#include "tools/analyze/time/over_time_curves.h"
#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;
using testing::TensorSpec;
using testing::WriteFile;

const int kMutations = std::getenv("MEMOIR_TEST_LONG") == nullptr ? 1500 : 5000;  // of each half
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kLimitMemory = false;  // the sanitizer needs additional address space
#else
constexpr bool kLimitMemory = true;
#endif
constexpr rlim_t kMaxAddressSpace = rlim_t{3} << 30;
constexpr unsigned kHangSeconds = 120;  // a mutation takes milliseconds

// Two steps that come again, and a part of a third.
void NameSteps(ProcessBuilder& process, std::uint32_t cuda) {
  const v1::StretchDef stretch =
      testing::StretchOf(1, {{.kind = v1::STEP},
                             {.kind = v1::ALLOCATE, .tick = 5, .bytes = 64, .of_host = 1},
                             {.kind = v1::STACK, .tick = 6},
                             {.kind = v1::BLOCK_ALLOCATE, .tick = 7, .address = 0x700000, .bytes = 512, .device = cuda},
                             {.kind = v1::DEALLOCATE, .tick = 9, .address = 0x700000, .device = cuda},
                             {.kind = v1::DEALLOCATE_COMPLETED, .tick = 9, .address = 0x700000, .device = cuda},
                             {.kind = v1::DEALLOCATE, .tick = 11, .of_host = 2, .freed_event = 1}});
  v1::Repeats repeats;
  for (std::uint32_t i = 0; i < 3; ++i) {
    repeats.add_stretch(1);
    repeats.add_events(i == 2 ? 3 : 7);
    repeats.add_tick_delta(i == 0 ? process.tick() : 3);
    repeats.add_ticks(20);
    repeats.add_step_delta(i == 0 ? 0 : 1);
    repeats.add_step_number(1);
    if (i < 2) repeats.add_serial_delta(1'000'000);
  }
  repeats.add_stretch(0);
  repeats.add_events(1);
  repeats.add_tick_delta(0);
  repeats.add_ticks(0);
  repeats.add_step_delta(0);
  repeats.add_address_delta(0x880000);
  repeats.add_living_serial(1);
  process.Repeat(stretch, repeats).Deallocate(0x880000);
}

// A bit of everything, in three parts.
ProcessBuilder MakeProcess() {
  ProcessBuilder process;
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  const TensorSpec numpy{7, 0x9000, 512, {2, 64}}, own{8, 0x1000, 64, {16}};
  const TensorSpec none{.impl = 0, .sizes = {}};
  for (std::uint64_t part = 0; part < 3; ++part) {
    for (std::uint64_t i = 0; i < 30; ++i) {
      const auto line = static_cast<std::uint32_t>(i);
      process.OnThread(1 + i % 2).Stack({{"train.py", "main", line}, {"net.py", "Net.forward", line % 3}});
      process.OnThread(1 + i % 2).BeginUser("step").Begin("aten::add", {numpy, own, own});
      process.Allocate(0x1000 + 64 * i, 100 + i)
          .Begin("aten::empty")
          .Allocate(0x100 * i, 10, cuda)
          .End({own})
          .End({own});
      process.BeginBackward("AddBackward0", static_cast<std::int64_t>(i), 1).End().End();
      process.EnterModule("fc", "Linear")
          .ModuleHolds("fc", {{own, numpy}, {none, own}, {numpy}}, {"weight", "bias", "mean"});
      process.HoldsMore({{own}, {none}, {}}, {"more"}).ExitModule("fc", "Linear");
      process.OptimizerHolds(1, {{own, numpy}, {numpy, none}, {own, own}, {}}).GradientOf(own, numpy);
      process.Deallocate(0x1000 + 64 * i);
      if (i % 3 == 0) process.Deallocate(0x100 * i, cuda);
      process.GiveDriverBlock(cuda, 0x100000 + i, 64 * i, v1::MALLOC, i % 2 == 0 ? "libnccl.so.2" : "libforeign.so");
      if (i % 4 == 0) process.TakeDriverBlock(cuda, 0x100000 + i);
      if (i == 7) process.RefuseDriver(cuda, i, v1::HANDLE, "libcublas.so.12", 3, i).RunOutOfMemory(cuda, i, i, part);
      if (i % 7 == 0) process.ReadDevice(cuda, v1::PEAK, {.free = 1000 - i, .total = 1000});
      if (i == 15 && part == 1) process.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_MEMORY).SwitchTo(v1::LEVEL_ALL);
      if (i % 10 == 9) process.Mark("m").Step(i).EndChunk(i % 20 == 9);
    }
    NameSteps(process, cuda);
    if (part < 2) process.EndPart();
    for (std::uint64_t i = 0; i < 30; ++i) process.Deallocate(0x100 * i, cuda);
  }
  return process;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  void Mutate(std::string* bytes) {
    for (std::uint64_t times = 1 + Upto(3); times > 0; --times) MutateOnce(bytes);
  }
  std::uint64_t Upto(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  void MutateOnce(std::string* bytes) {
    if (bytes->empty()) return;
    const std::size_t at = Upto(bytes->size());
    const std::size_t size = 1 + Upto(16);
    switch (Upto(6)) {
      case 0:
        (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << Upto(8)));
        return;
      case 1:
        bytes->insert(at, std::string(size, static_cast<char>(random_())));
        return;
      case 2:
        bytes->erase(at, size);
        return;
      case 3:
        bytes->replace(at, std::min<std::size_t>(size, bytes->size() - at), bytes->substr(Upto(bytes->size()), size));
        return;
      case 4:
        bytes->replace(at, 1, std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x7f") + static_cast<char>(Upto(2)));
        return;  // huge varint
      default:
        (*bytes)[at] = static_cast<char>(random_());
        return;
    }
  }
  std::mt19937_64 random_;
};

// Everything that reads; results are not looked at, only that they come back.
void ReadEverything(const std::string& folder, std::uint64_t which) {
  const absl::StatusOr<Capture> capture = Capture::Open(folder);
  if (!capture.ok()) {
    EXPECT_THAT(std::string(capture.status().message()),
                ::testing::AllOf(::testing::HasSubstr(".memoir"), ::testing::HasSubstr("offset ")));
    return;
  }
  SummaryOptions summary;
  summary.by = static_cast<GroupBy>(which % (static_cast<std::uint64_t>(GroupBy::kParameter) + 1));
  if (which % 5 == 1) summary.window = SelectionWindow::Range("step");
  const absl::StatusOr<Summary> result = AnalyzeSummary(*capture, summary);
  if (result.ok()) {
    for (const Damage& damage : result->report.damage) {
      EXPECT_THAT(damage.file, ::testing::HasSubstr(".memoir"));
      EXPECT_FALSE(damage.what.empty());
    }
    SummaryColumns devices;
    for (const DeviceRow& device : result->devices) {
      devices.net_bytes += device.live_bytes_at_end;
      devices.allocated_bytes += device.allocated_bytes;
      devices.bytes_at_peak += device.peak_allocated_bytes;
    }
    const SummaryColumns rows = result->total();
    EXPECT_EQ(rows.net_bytes, devices.net_bytes) << "sums close even over what is left of a damaged capture";
    EXPECT_EQ(rows.allocated_bytes, devices.allocated_bytes);
    EXPECT_EQ(rows.bytes_at_peak, devices.bytes_at_peak);
  }
  Visitor nobody;
  if (which % 4 == 0) (void)AnalyzeLiveBlockTable(*capture, {});
  if (which % 4 == 0) (void)AnalyzeBalance(*capture, {}, {});
  if (which % 4 == 1) (void)AnalyzeOverTime(*capture, {});
  if (which % 4 == 2) (void)AnalyzeRangeTree(*capture, {});
  if (which % 4 == 3) (void)StreamEvents(*capture, {}, nobody);
  if (which % 4 == 0) (void)ExplainBlocks(*capture, {}, *ParseSubject(which % 8 == 0 ? "fc.weight" : "aten::add#3"));
  const Selection all;
  JointReplays replays(*capture, all);
  SharedCategories shared(replays);
  const absl::StatusOr<KnownCategories>& categories = replays.Finish(shared.Find());
  if (!categories.ok() || which % 4 != 1) return;
  const auto show = [&](const BlockLife& life, const ReplayState&) {
    EXPECT_LT(life.rule, Rules().size());
    EXPECT_TRUE(life.parameter == kNoParameter || life.parameter < (*categories)->parameters.size());
  };
  (void)replays.Finish(ForEachBlockLife(replays, all, **categories, show));
}

class MutationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kLimitMemory) {
      getrlimit(RLIMIT_AS, &before_);
      const struct rlimit limit = {kMaxAddressSpace, before_.rlim_max};
      ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    }
    process_.Finish();
  }
  void TearDown() override {
    alarm(0);
    if (kLimitMemory) setrlimit(RLIMIT_AS, &before_);
  }
  void WriteParts(const TemporaryFolder& folder, std::uint32_t damaged, const std::string& bytes) {
    for (std::uint32_t part = 0; part < process_.parts().size(); ++part) {
      WriteFile(folder / process_.FileName(part), part == damaged ? bytes : process_.parts()[part]);
    }
  }
  ProcessBuilder process_ = MakeProcess();
  struct rlimit before_ = {};
};

TEST_F(MutationTest, OfFiles) {
  const TemporaryFolder folder;
  for (int i = 0; i < kMutations; ++i) {
    SCOPED_TRACE(i);
    alarm(kHangSeconds);
    Mutator mutator(static_cast<std::uint64_t>(i));
    const auto part = static_cast<std::uint32_t>(mutator.Upto(3));
    std::string bytes = process_.parts()[part];
    if (i % 7 == 0) {  // swap two chunks
      const std::vector<std::uint64_t>& offsets = process_.chunk_offsets(part);
      const std::size_t at = mutator.Upto(offsets.size() - 2);
      bytes = bytes.substr(0, offsets[at]) + bytes.substr(offsets[at + 1], offsets[at + 2] - offsets[at + 1]) +
              bytes.substr(offsets[at], offsets[at + 1] - offsets[at]) + bytes.substr(offsets[at + 2]);
    } else {
      mutator.Mutate(&bytes);
    }
    WriteParts(folder, part, bytes);
    ReadEverything(folder.path(), static_cast<std::uint64_t>(i));
    if (HasFailure()) return;
  }
}

// The part with one payload changed and sealed again.
std::string ReplacePayload(const std::string& bytes, Mutator& mutator) {
  v1::Part part;
  EXPECT_TRUE(part.ParseFromString(bytes));
  v1::Chunk* chunk =
      part.mutable_chunk(static_cast<int>(mutator.Upto(static_cast<std::uint64_t>(part.chunk_size()) - 1)));
  if (chunk->payload().empty()) return bytes;
  std::string plain(chunk->payload_bytes(), '\0');
  ZSTD_decompress(plain.data(), plain.size(), chunk->payload().data(), chunk->payload().size());
  mutator.Mutate(&plain);
  testing::SealBytes(plain, chunk);
  return testing::Delimited(part);
}

TEST_F(MutationTest, OfPayloads) {
  RecordProperty("mutations", kMutations);  // for docs/tested/reliability.md
  const TemporaryFolder folder;
  for (int i = 0; i < kMutations; ++i) {
    SCOPED_TRACE(i);
    alarm(kHangSeconds);
    Mutator mutator(1'000'000 + static_cast<std::uint64_t>(i));
    const auto part = static_cast<std::uint32_t>(mutator.Upto(3));
    WriteParts(folder, part, ReplacePayload(process_.parts()[part], mutator));
    ReadEverything(folder.path(), static_cast<std::uint64_t>(i));
    if (HasFailure()) return;
  }
}

// Tiny chunks that claim, or unpack to, as much as the format allows.
TEST_F(MutationTest, BombsStayWithinBounds) {
  const auto read = [&](const std::string& plain) {
    const TemporaryFolder folder;
    std::string file;
    for (int copies = 0; copies < 3; ++copies) {
      v1::Chunk chunk;
      if (copies == 0) chunk.mutable_process()->set_format_version(1);
      chunk.set_sequence(static_cast<std::uint64_t>(copies));
      testing::SealBytes(plain, &chunk);
      file += testing::Delimited(chunk);
    }
    WriteFile(folder / "bomb.memoir", file);
    alarm(kHangSeconds);
    ReadEverything(folder.path(), 0);
  };
  const std::size_t kSize = 64u << 20;
  for (const int field : {1, 2, 3, 4, 5, 7, 13, 15}) {  // empty messages of each kind: two bytes that cost hundreds
    std::string plain;
    for (std::size_t i = 0; i < kSize / 2; ++i) plain += {static_cast<char>(field << 3 | 2), '\0'};
    read(plain);
  }
  read(std::string(kSize, '\0'));
  v1::Payload many;  // stretches of one event
  for (std::uint32_t i = 1; i < 1'000'000; ++i)
    *many.add_stretches() = testing::StretchOf(i, std::vector<testing::StretchEventSpec>(1));
  read(many.SerializeAsString());
  v1::Payload repeated;  // events that come again and again
  *repeated.add_stretches() = testing::StretchOf(1, std::vector<testing::StretchEventSpec>(1));
  for (int i = 0; i < 1'000'000; ++i) {
    repeated.mutable_repeats()->add_stretch(1);
    repeated.mutable_repeats()->add_events(1);
    repeated.mutable_repeats()->add_tick_delta(0);
    repeated.mutable_repeats()->add_ticks(0);
    repeated.mutable_repeats()->add_step_delta(1);
    repeated.mutable_repeats()->add_step_number(1);
  }
  read(repeated.SerializeAsString());
  v1::Payload deep;  // ranges nested without end
  v1::ThreadRun* run = deep.add_runs();
  const int events = 2'000'000;
  run->set_kind(std::string(events, static_cast<char>(v1::RANGE_BEGIN_USER)));
  for (int i = 0; i < events; ++i) {
    run->add_tick_delta(0);
    run->add_name(1);
    run->add_sequence_delta(0);
    run->add_signature(0);
  }
  read(deep.SerializeAsString());
}

}  // namespace
}  // namespace memoir
