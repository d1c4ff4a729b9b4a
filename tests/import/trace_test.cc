// Traces of torch.profiler open as captures: sums are the profiler's, operators, modules and lines those that were
// open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/import/pickles.h"
#include "tests/import/traces.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/model/import_source.h"

namespace memoir {
namespace {

using ::testing::HasSubstr;
using testing::MemoryEvent;
using ::testing::Not;
using testing::PickleFile;
using testing::SpanEvent;
using testing::TraceOf;

absl::StatusOr<Summary> Summarised(const std::string& json, GroupBy by = GroupBy::kOperator) {
  const PickleFile file(json, "trace.json");
  absl::StatusOr<Capture> capture = Capture::Open(file.path());
  if (!capture.ok()) return capture.status();
  SummaryOptions options;
  options.by = by;
  absl::StatusOr<Summary> summary = AnalyzeSummary(*capture, options);
  if (!summary.ok()) return summary.status();
  EXPECT_TRUE(summary->report.damage.empty());
  EXPECT_EQ(summary->report.statistics_mismatches, 0u);
  EXPECT_EQ(summary->report.unmatched_deallocations, 0u);
  EXPECT_EQ(summary->report.replaced_blocks, 0u);
  return summary;
}

std::uint64_t Allocated(const Summary& summary, const std::string& name) {
  for (const SummaryRow& row : summary.rows) {
    if (row.name == name) return row.total.allocated_bytes;
  }
  return 0;
}

std::string ErrorOf(const std::string& bytes, const std::string& name = "trace.json") {
  const PickleFile file(bytes, name);
  const absl::StatusOr<Capture> capture = Capture::Open(file.path());
  std::string message(capture.status().message());
  EXPECT_EQ(message.find('\n'), message.npos);
  EXPECT_THAT(message, HasSubstr(file.path()));
  return message;
}

std::string Unrecorded(const Summary& summary) {
  std::string all;
  for (const auto& span : summary.report.processes.at(0).unrecorded) all += span.why + "\n";
  return all;
}

// An operator inside of a module, called from a function; what it allocates is freed outside.
const std::vector<std::string> kEvents = {
    MemoryEvent({.us = 120, .bytes = 512, .address = 0x5000, .allocated = 512, .reserved = 2048}),
    MemoryEvent({.us = 130, .bytes = 1024, .address = 0x6000, .allocated = 1536, .reserved = 2048}),
    MemoryEvent({.us = 300, .bytes = -512, .address = 0x5000, .allocated = 1024, .reserved = 2048}),
    SpanEvent("cpu_op", "aten::linear", 110, 50, R"("Sequence number": 4, "Fwd thread id": 0)"),
    SpanEvent("cpu_op", "aten::addmm", 125, 30, R"("Sequence number": 5, "Fwd thread id": 0)"),
    SpanEvent("python_function", "nn.Module: Linear_1", 105, 60),
    SpanEvent("python_function", "nn.Module: Net_0", 104, 70),
    SpanEvent("python_function", "net.py(12): forward", 108, 56),
    SpanEvent("python_function", "train.py(3): <module>", 100, 900),
    SpanEvent("user_annotation", "ProfilerStep#7", 101, 300),
    SpanEvent("kernel", "void gemm()", 110, 50)};

TEST(Trace, IsItsHistory) {
  const auto summary = Summarised(TraceOf(kEvents));
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->devices.size(), 1u);
  const DeviceRow& device = summary->devices[0];
  EXPECT_EQ(device.name, "cuda:0");
  EXPECT_EQ(device.peak_allocated_bytes, 1536u);
  EXPECT_EQ(device.peak_reserved_bytes, 2048u);
  EXPECT_EQ(device.live_bytes_at_begin, 0u);
  EXPECT_EQ(device.live_bytes_at_end, 1024u);
  EXPECT_EQ(device.peak_ns, 30'000u);
  EXPECT_EQ(device.peak_step, 7u);
  EXPECT_FALSE(device.active_known);
  EXPECT_EQ(device.num_alloc_retries, std::nullopt);
  EXPECT_EQ(summary->operator_calls, 2u);
  EXPECT_EQ(summary->steps, 1u);
  EXPECT_EQ(Allocated(*summary, "aten::linear"), 1536u) << "the outermost operator";
  EXPECT_EQ(Unrecorded(*summary), "");
}

TEST(Trace, HasModulesAndLines) {
  const auto modules = Summarised(TraceOf(kEvents), GroupBy::kModule);
  ASSERT_TRUE(modules.ok()) << modules.status();
  EXPECT_EQ(Allocated(*modules, "Linear_1"), 1536u);
  const auto lines = Summarised(TraceOf(kEvents), GroupBy::kLine);
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_EQ(Allocated(*lines, "net.py:12 forward"), 1536u);
}

// A node of autograd gets the module and line of its forward operator.
TEST(Trace, KnowsWhoseBackwardItIs) {
  std::vector<std::string> events = kEvents;
  const std::string node = R"("Sequence number": 5, "Fwd thread id": 1)";
  events.push_back(SpanEvent("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 500, 90, node, 12));
  events.push_back(SpanEvent("cpu_op", "AddmmBackward0", 510, 70, node, 12));
  events.push_back(SpanEvent("cpu_op", "aten::mm", 515, 60, "", 12));
  events.push_back(
      MemoryEvent({.us = 520, .bytes = 4096, .address = 0x7000, .allocated = 5120, .reserved = 8192, .thread = 12}));
  const auto modules = Summarised(TraceOf(events), GroupBy::kModule);
  ASSERT_TRUE(modules.ok()) << modules.status();
  EXPECT_EQ(Allocated(*modules, "Linear_1"), 1536u + 4096u);
  const auto lines = Summarised(TraceOf(events), GroupBy::kLine);
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_EQ(Allocated(*lines, "net.py:12 forward"), 1536u + 4096u);
  EXPECT_EQ(Allocated(*Summarised(TraceOf(events)), "aten::mm"), 4096u);
}

TEST(Trace, SaysWhoseItIs) {
  const std::string head =
      R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"rank": 5}]},
         "deviceProperties": [{"id": 0, "name": "H100"}, {"id": 1, "name": "other"}], )";
  const PickleFile file(TraceOf(kEvents, head), "trace.json");
  const auto capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(ImportSourceOf(*capture), ImportSource::kTrace);
  const v1::ProcessInfo& info = capture->processes().at(0).info;
  EXPECT_EQ(info.rank(), 3u);
  EXPECT_EQ(info.world_size(), 8u);
  EXPECT_EQ(info.pid(), 7u);
  EXPECT_EQ(info.program(), "trace.json");
  EXPECT_EQ(info.start().realtime_ns(), 1790857026000000000u + 100'000u);
  EXPECT_FALSE(HasCutHistory(capture->processes()[0]));
  EXPECT_EQ(Summarised(TraceOf(kEvents, head))->devices.at(0).product, "H100");
}

// It begins in the middle: blocks from before are known where the trace frees them, the rest is one sum.
TEST(Trace, MayBeginWithMemoryInUse) {
  const std::string json =
      TraceOf({MemoryEvent({.us = 1, .bytes = 100, .address = 1, .allocated = 1100, .reserved = 4096}),
               MemoryEvent({.us = 2, .bytes = -300, .address = 2, .allocated = 800, .reserved = 4096})});
  const auto summary = Summarised(json);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices.at(0).live_bytes_at_begin, 1000u);
  EXPECT_EQ(summary->devices.at(0).peak_allocated_bytes, 1100u);
  EXPECT_EQ(summary->devices.at(0).live_bytes_at_end, 800u);
  EXPECT_EQ(summary->devices.at(0).peak_reserved_bytes, 4096u);
  EXPECT_EQ(summary->devices.at(0).allocations, 1u);
  EXPECT_EQ(Unrecorded(*summary), "");
  const PickleFile file(json, "trace.json");
  EXPECT_TRUE(HasCutHistory(Capture::Open(file.path())->processes()[0]));
}

TEST(Trace, SaysWhatTheProfilerDidNotFollow) {
  const auto summary =
      Summarised(TraceOf({MemoryEvent({.us = 1, .bytes = 100, .address = 1, .allocated = 100, .reserved = 4096}),
                          MemoryEvent({.us = 2, .bytes = 50, .address = 2, .allocated = 950, .reserved = 4096}),
                          MemoryEvent({.us = 3, .bytes = 50, .address = 3, .allocated = 100, .reserved = 4096})}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices.at(0).peak_allocated_bytes, 950u);
  EXPECT_EQ(summary->devices.at(0).live_bytes_at_end, 100u);
  EXPECT_THAT(Unrecorded(*summary), HasSubstr("2 changes of the profiler's totals have no event"));
}

TEST(Trace, TellsOutOfMemory) {
  std::vector<std::string> events = kEvents;
  events.push_back(R"({"ph": "i", "s": "t", "name": "[OutOfMemory]", "pid": 7, "tid": 11, "ts": 140, "args":
    {"Total Reserved": 2048, "Total Allocated": 1536, "Bytes": 99999, "Device Id": 0, "Device Type": 1}})");
  const auto summary = Summarised(TraceOf(events));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices.at(0).num_ooms, 1u);
  ASSERT_EQ(summary->out_of_memory.size(), 1u);
}

TEST(Trace, OpensPackedByGzip) {
  const std::string json = TraceOf(kEvents);
  const PickleFile file("", "trace.json.gz");
  gzFile packed = gzopen(file.path().c_str(), "wb");
  gzwrite(packed, json.data(), static_cast<unsigned>(json.size()));
  gzclose(packed);
  const auto capture = Capture::Open(file.path());
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(ImportSourceOf(*capture), ImportSource::kTrace);
}

// All of the sums below are the profiler's.
TEST(Trace, LeavesOutWhatCannotBe) {
  std::vector<std::string> events = kEvents;
  const std::string event = kEvents.front();
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"Bytes\": 512", "\"Bytes\": 1e300"},
                                                        {"\"Bytes\": 512", "\"Bytes\": \"512\""},
                                                        {"\"Bytes\": 512", "\"Bytes\": -9223372036854775808"},
                                                        {"\"Bytes\": 512", "\"Bytes\": 9223372036854775808"},
                                                        {"\"ts\": 120", "\"ts\": 1e300"},
                                                        {"\"ts\": 120", "\"ts\": -4"},
                                                        {"\"ts\": 120", "\"ts\": null"},
                                                        {"\"Addr\": 20480", "\"Addr\": -1"},
                                                        {"\"Addr\": 20480", "\"Addr\": 18446744073709551615"}}) {
    std::string other = event;
    ASSERT_NE(other.find(from), other.npos);
    events.push_back(other.replace(other.find(from), from.size(), to));
  }
  std::string foreign = event;
  events.push_back(foreign.replace(foreign.find("\"pid\": 7"), 8, "\"pid\": 8"));
  events.push_back(SpanEvent("cpu_op", "aten::late", 1'000'000, -5));
  events.push_back("5, null, [[{}]]");
  const auto summary = Summarised(TraceOf(events));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->devices.at(0).peak_allocated_bytes, 1536u);
  EXPECT_EQ(summary->devices.at(0).live_bytes_at_end, 1024u);
  EXPECT_THAT(Unrecorded(*summary),
              HasSubstr("9 memory events are left out: their time, address or size is not possible"));
  EXPECT_THAT(Unrecorded(*summary), HasSubstr("1 memory event of another process is left out"));
}

TEST(OtherJson, IsNamed) {
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("no trace of torch.profiler"));
  EXPECT_THAT(ErrorOf("[1, 2]"), HasSubstr("it has no \"traceEvents\""));
  EXPECT_THAT(ErrorOf(R"({"segments": []})"), HasSubstr("it has no \"traceEvents\""));
  EXPECT_THAT(ErrorOf(TraceOf({SpanEvent("cpu_op", "aten::mm", 1, 2)})), HasSubstr("profile_memory=True"));
  const std::string whole = TraceOf(kEvents);
  EXPECT_THAT(ErrorOf(whole.substr(0, whole.size() / 2)), HasSubstr("JSON that was cut: it ends at byte"));
  EXPECT_THAT(ErrorOf(R"({"a": 1,, "b": 2})"), HasSubstr("invalid JSON at byte 8"));
  EXPECT_THAT(ErrorOf("{\"a\": " + std::string(100'000, '[')), HasSubstr("nests more than 500 deep"));
  EXPECT_THAT(ErrorOf("{\"a\": \"" + std::string(40u << 20, 'x') + "\"}"), HasSubstr("more than 16 MiB"));
  EXPECT_THAT(ErrorOf("{\"a\":" + std::string(40u << 20, ' ') + "1}"), HasSubstr("more than 16 MiB"));
}

TEST(OtherFiles, AreNamedWithWhatToDo) {
  EXPECT_THAT(ErrorOf("(dp0\nVsegments\np1\n(lp2\ns.", "snapshot.pickle"), HasSubstr("protocol 0 or 1"));
  EXPECT_THAT(ErrorOf(std::string("}q\0(X", 5), "snapshot.pickle"), HasSubstr("protocol=2"));
  const std::string memray("memray\0\x0c", 8);
  EXPECT_THAT(ErrorOf(memray, "memray.bin"), HasSubstr("python -m memray flamegraph"));
  const std::string packed = std::string("\x04\x22\x4d\x18\x40\x40\xc0\x5c\x3b\0\0\xf9\x05", 13) + memray;
  EXPECT_THAT(ErrorOf(packed, "memray.bin"), HasSubstr("python -m memray flamegraph"));
}

// A part of a capture begins with a newline; its length may be the character "{".
TEST(OtherFiles, AreNoParts) {
  for (const std::string& bytes : {std::string("\n{\x08\x01"), std::string("\n[\x12\x01"), std::string("\n \n{\x08")})
    EXPECT_THAT(ErrorOf(bytes, "part.memoir"), Not(HasSubstr("JSON"))) << bytes;
}

}  // namespace
}  // namespace memoir
