// The output of `memoir fit` for invented runs, compared with the golden files of views_test.cc, which are regenerated
// in the same way.
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/expect_golden.h"
#include "tools/analyze/fit/fit.h"
#include "tools/analyze/fit/fit_curve.h"
#include "tools/view/fit/fit_curve_png.h"
#include "tools/view/fit/fit_curve_text.h"
#include "tools/view/fit/fit_json.h"
#include "tools/view/fit/fit_text.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

using testing::ExpectGolden;

constexpr Terminal kNarrow = {.width = 80};
constexpr std::uint64_t kMiB = 1 << 20;
const std::vector<std::string> kCommand = {"python", "train.py"};

FitRun Ended(int exit_code, std::uint64_t total, std::uint64_t blocks, std::uint64_t refused = 0) {
  SimulatedDevice device;
  device.total = total * kMiB;
  device.context = 500 * kMiB;
  device.peak_blocks = blocks * kMiB;
  device.peak = device.used = device.context + device.peak_blocks;
  device.refused = refused * kMiB;
  device.refusals = refused > 0 ? 2 : 0;
  device.refused_used = device.used;
  FitRun run;
  run.exit_code = exit_code;
  run.processes = {{4711, {device}}};
  return run;
}

FitCard Card(const std::string& key, const std::string& name, std::uint64_t memory) {
  FitCard card;
  card.key = key;
  card.name = name;
  card.torch = "2.11.0";
  card.memory = memory * kMiB;
  return card;
}

FitCard Fits() {
  FitCard card = Card("h100", "NVIDIA H100 80GB HBM3", 81080);
  card.low.run = Ended(0, 81080, 41000);
  FitRecording& recording = card.low.run.recording.emplace();
  recording.peak_allocated = 40000 * kMiB;
  recording.peak_reserved = 41000 * kMiB;
  recording.by_operator = {
      {"aten::linear", 30000 * kMiB}, {"aten::zeros_like", 8000 * kMiB}, {"(no operator)", 2000 * kMiB}};
  recording.by_phase = {{"forward", 32000 * kMiB}, {"optimizer", 8000 * kMiB}};
  for (int i = 0; i < 8; ++i) recording.by_module.push_back({"blocks." + std::to_string(i) + ".mlp", 4000 * kMiB});
  recording.by_module.push_back({"head", 8000 * kMiB});
  return card;
}

FitCard Lacks() {
  FitCard card = Card("t4", "Tesla T4", 14909);
  card.low.run = Ended(1, 14909, 14000, 512);
  card.low.run.recording.emplace().out_of_memory = {"aten::linear", "blocks.3.mlp", Phase::kForward, 500 * kMiB};
  card.low.unlimited = Ended(0, 1 << 20, 40900);
  return card;
}

FitCard Barely() {
  FitCard card = Card("l4", "NVIDIA L4", 22478);
  card.memory_most = 22702 * kMiB;
  card.low.run = Ended(0, 22478, 21800);
  card.low.run.processes[0].devices[0].refusals = 1;
  return card;
}

FitCard Depends() {
  FitCard card = Card("a10g", "NVIDIA A10G", 22502);
  card.low.run = Ended(0, 22502, 10000);
  card.high = FitAttempt{Ended(1, 22502, 21000, 2000), Ended(0, 1 << 20, 30000)};
  card.unknowns = {"how many elements aten::nonzero finds"};
  return card;
}

FitCard Failed() {
  FitCard card = Card("b200", "NVIDIA B200", 182642);
  card.low.run.exit_code = 2;
  return card;
}

FitCard Unused() {
  FitCard card = Card("rtx4090", "NVIDIA GeForce RTX 4090", 24207);
  card.low.run = Ended(0, 24207, 0);
  return card;
}

FitCard WentOn() {
  FitCard card = Card("a100-40", "NVIDIA A100-SXM4-40GB", 40448);
  card.low.run = Ended(0, 40448, 39000, 4000);
  return card;
}

FitCard NeedNotLearned() {
  FitCard card = Lacks();
  card.key = "small";
  card.low.unlimited = Ended(3, 1 << 20, 20000);
  return card;
}

const std::vector<FitCard> kCards = {Fits(),   Lacks(),  Barely(), Depends(),
                                     Failed(), Unused(), WentOn(), NeedNotLearned()};

FitCurve Curve() {
  FitCurve curve;
  curve.variable = "BATCH";
  curve.key = "l4";
  curve.name = "NVIDIA L4";
  curve.torch = "2.11.0";
  curve.memory = 22478 * kMiB;
  curve.first = 1;
  curve.last = 64;
  const auto point = [&](std::uint64_t value, FitVerdict verdict, std::uint64_t low, std::uint64_t high) {
    std::optional<FitInterval> need;
    if (high > 0) need = FitInterval{low * kMiB, high * kMiB};
    curve.points.push_back({value, verdict, need, verdict == FitVerdict::kFits ? 0 : 1});
  };
  point(1, FitVerdict::kFits, 1500, 1500);
  point(8, FitVerdict::kFits, 6000, 6000);
  point(12, FitVerdict::kDoesNotFit, 0, 0);
  point(16, FitVerdict::kFits, 22000, 22000);
  curve.points.back().barely = true;
  point(24, FitVerdict::kFailed, 0, 0);
  point(32, FitVerdict::kDepends, 20000, 26000);
  point(64, FitVerdict::kDoesNotFit, 40000, 40000);
  curve.largest = 16;
  curve.at_largest = Barely();
  curve.next_that_fails = 32;
  curve.contradictions = {12};
  return curve;
}

TEST(FitViews, OneCard) {
  std::string text;
  for (const FitCard& card : kCards) text += RenderFit(card, "train.py", kNarrow) + "\n";
  ExpectGolden("fit_cards.txt", text);
  ExpectGolden("fit.json", ToText(FitJson(kCards, kCommand)));
}

TEST(FitViews, NoLineIsWiderThanTheTerminal) {
  std::string text = RenderFitTable(kCards, "train.py", kNarrow) + RenderFitCurve(Curve(), "train.py", kNarrow);
  for (const FitCard& card : kCards) text += RenderFit(card, "train.py", kNarrow);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), kNarrow.width) << line;
}

TEST(FitViews, Table) { ExpectGolden("fit_table.txt", RenderFitTable(kCards, "train.py", {.width = 120})); }

TEST(FitViews, EveryTextSaysThatItIsSimulated) {
  for (const FitCard& card : kCards) {
    EXPECT_NE(RenderFit(card, "train.py", kNarrow).find("SIMULATED"), std::string::npos);
    EXPECT_NE(RenderFitLine(card, "train.py", kNarrow).find("SIMULATED"), std::string::npos);
  }
  EXPECT_NE(RenderFitTable(kCards, "train.py", kNarrow).find("SIMULATED"), std::string::npos);
}

TEST(FitViews, Curve) {
  ExpectGolden("fit_curve.txt", RenderFitCurve(Curve(), "train.py", {.width = 100}));
  ExpectGolden("fit_curve.json", ToText(FitCurveJson(Curve(), kCommand)));
}

std::uint32_t BigEndian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

TEST(FitViews, PngIsAPictureOfItsSize) {
  for (const FitCurve& curve : {Curve(), FitCurve()}) {  // one without any point as well
    const std::string png = FitCurvePng(curve, "träin.py");
    EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(png.substr(12, 4), "IHDR");
    EXPECT_EQ(BigEndian(png, 16), 1200u);
    EXPECT_EQ(BigEndian(png, 20), 750u);
    EXPECT_EQ(png.substr(png.size() - 8, 4), "IEND");
  }
}

}  // namespace
}  // namespace memoir
