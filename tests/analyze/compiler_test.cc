// Memory of torch.compile's own work does not belong to the model: numbers computed by hand.
#include <gtest/gtest.h>

#include "tests/analyze/summarised.h"
#include "tests/analyze/told.h"
#include "tests/captures/capture_builder.h"
#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

using testing::At;
using testing::ProcessBuilder;
using testing::RowNamed;
using testing::Summarise;
using testing::Tell;

// A model's call of which torch.compile takes a part: 100 bytes of the model's, 50 to try kernels on, 7 that stay; then
// the model's other 20.
void Compile(ProcessBuilder& process) {
  process.EnterModule("", "Net", "Net").Begin("aten::mm").Allocate(0x1000, 100).End();
  process.BeginUser("torch.compile: dynamo").BeginUser("torch.compile: CachingAutotuner.benchmark_all_configs");
  process.Begin("aten::empty").Allocate(0x2000, 50).End({At(0x2000)}).Deallocate(0x2000).End();
  process.Begin("aten::zeros").Allocate(0x3000, 7).End({At(0x3000)}).End();
  process.Begin("aten::mm").Allocate(0x4000, 20).End({At(0x4000)}).ExitModule("", "Net", "Net");
}

TEST(Compiler, ItsMemoryIsOfNoModuleAndAPhaseOfItsOwn) {
  ProcessBuilder process;
  Compile(process);
  SummaryOptions options;
  options.by = GroupBy::kModule;
  const Summary summary = Summarise(process, options);
  EXPECT_EQ(RowNamed(summary, "Net").total.allocated_bytes, 120u);
  EXPECT_EQ(RowNamed(summary, "(no module)").total.allocated_bytes, 57u);
  EXPECT_EQ(summary.phases[static_cast<std::size_t>(Phase::kCompile)].allocated_bytes, 57u);
  EXPECT_EQ(summary.phases[static_cast<std::size_t>(Phase::kForward)].allocated_bytes, 120u);
}

TEST(Compiler, ThePeakWithoutItIsTheModels) {
  for (const GroupBy by : {GroupBy::kOperator, GroupBy::kModule, GroupBy::kCategory}) {
    ProcessBuilder process;
    Compile(process);
    SummaryOptions options;
    options.by = by;
    const Summary summary = Summarise(process, options);
    ASSERT_EQ(summary.devices.size(), 1u);
    EXPECT_EQ(summary.devices[0].peak_allocated_bytes, 150u);
    EXPECT_EQ(summary.devices[0].compile_bytes_at_peak, 50u);
    EXPECT_EQ(summary.devices[0].peak_without_compile_bytes, 120u);
  }
}

TEST(Compiler, APeakFromBeforeOrOfALaterWindowIsKnown) {
  ProcessBuilder process;
  process.Allocate(0x9000, 500).Deallocate(0x9000).Mark("compiled");
  Compile(process);
  process.Mark("trained").Allocate(0x5000, 1000);
  const Summary whole = Summarise(process);
  EXPECT_EQ(whole.devices[0].peak_allocated_bytes, 1127u);
  EXPECT_EQ(whole.devices[0].compile_bytes_at_peak, 7u);
  EXPECT_EQ(whole.devices[0].peak_without_compile_bytes, 1120u);
}

TEST(Compiler, WithoutAnyThePeakIsTheSame) {
  ProcessBuilder process;
  process.Allocate(0x1000, 500).Deallocate(0x1000).Allocate(0x2000, 20);
  const Summary summary = Summarise(process);
  EXPECT_EQ(summary.devices[0].compile_bytes_at_peak, 0u);
  EXPECT_EQ(summary.devices[0].peak_without_compile_bytes, 500u);
}

TEST(Compiler, TriesKernelsOutAndKeepsWhatItNeeds) {
  ProcessBuilder process;
  Compile(process);
  const auto told = Tell(process);
  EXPECT_EQ(told.at(0x2000).rule, "autotuning");
  EXPECT_EQ(told.at(0x3000).rule, "made_while_compiling");
  EXPECT_EQ(told.at(0x4000).rule, "not_saved");
}

}  // namespace
}  // namespace memoir
