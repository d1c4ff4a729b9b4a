#include "tests/fuzz/whole_captures.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace memoir::testing {

ProcessBuilder MakeProcess(Operators operators) {
  ProcessOptions options;
  const bool below = operators == Operators::kBelow;
  options.sources = {"ranges", "cpu-allocator", "cuda-allocator", "modules", "driver"};
  if (below) options.sources.push_back("dispatch");
  ProcessBuilder process(options);
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "H100");
  const TensorSpec weight{7, 0x9000, 512, {2, 64}}, own{8, 0x1000, 64, {16}};
  const TensorSpec none{.impl = 0, .sizes = {}};
  process.TakeSegment(cuda, 0x100000, 1 << 20).Mark("memoir.MemoryTracker#t begins");
  for (std::uint64_t part = 0; part < 2; ++part) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t block = 0x100000 + 0x400 * i;
      const auto line = static_cast<std::uint32_t>(i);
      process.OnThread(1 + i % 2).Stack({{"train.py", "main", line}, {"net.py", "Net.forward", line % 3}});
      process.OnThread(1 + i % 2).BeginUser("step").EnterModule("", "Net").EnterModule("fc", "Linear");
      process.Begin("aten::add", {weight, own, own}).Allocate(0x1000 + 64 * i, 100 + i);
      if (below) process.BeginDispatch("aten::add.Tensor");
      process.AllocateBlock(cuda, block, 0x400, 0x3f0);
      if (below) process.End({own});
      process.End({own});
      process.BeginForward("aten::mm", static_cast<std::int64_t>(i)).End({own});
      process.ExitModule("fc", "Linear").ExitModule("", "Net");
      process.ModuleHolds("fc", {{own, weight}, {none, own}, {weight}}, {"weight", "bias", "mean"});
      process.HoldsMore({{own}, {none}, {}}, {"more"});
      process.BeginBackward("AddBackward0", static_cast<std::int64_t>(i), 1).Begin("aten::mul", {own, own}).End({own});
      process.End().GradientOf(own, weight);
      process.BeginUser("Optimizer.step#SGD.step").End();
      process.OptimizerHolds(1, {{own, weight}, {weight, none}, {own, own}, {}}).End();
      process.Deallocate(0x1000 + 64 * i);
      if (i % 3 != 0) process.FreeBlock(cuda, block);
      process.GiveDriverBlock(cuda, 0x900000 + i, 64 * i, v1::MALLOC, i % 2 == 0 ? "libnccl.so.2" : "libforeign.so");
      if (i == 7) process.RefuseDriver(cuda, i, v1::HANDLE, "libcublas.so.12", 3, i).RunOutOfMemory(cuda, i, i, part);
      if (i % 7 == 0) process.ReadDevice(cuda, v1::PEAK, {.free = 1000 - i, .total = 1000});
      if (below && i == 15 && part == 1)
        process.SwitchTo(v1::LEVEL_OFF).SwitchTo(v1::LEVEL_MEMORY).SwitchTo(v1::LEVEL_ALL);
      if (i % 10 == 9) process.Mark("m").Step(i).EndChunk(i % 20 == 9);
    }
    for (std::uint64_t i = 0; i < 20; i += 3) process.FreeBlock(cuda, 0x100000 + 0x400 * i);
    if (part == 0) process.EndPart();
  }
  process.Mark("memoir.MemoryTracker#t ends");
  process.Finish();
  return process;
}

Parts PartsOf(ProcessBuilder& process) {
  Parts parts;
  for (std::uint32_t i = 0; i < process.parts().size(); ++i)
    parts.emplace_back(process.FileName(i), process.parts()[i]);
  return parts;
}

std::vector<Parts> ReleasedCaptures() {
  std::vector<Parts> captures;
  for (const auto& folder : std::filesystem::directory_iterator(MEMOIR_RELEASED_DIR)) {
    if (!folder.is_directory()) continue;
    Parts& parts = captures.emplace_back();
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::ifstream stream(file.path(), std::ios::binary);
      parts.emplace_back(file.path().filename(), std::string{std::istreambuf_iterator<char>(stream), {}});
    }
    std::ranges::sort(parts);
  }
  std::ranges::sort(captures);
  return captures;
}

}  // namespace memoir::testing
