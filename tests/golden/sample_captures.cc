#include "tests/golden/sample_captures.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "tests/captures/capture_builder.h"

namespace memoir::testing {
namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

ProcessOptions Options(std::uint32_t rank = 0, std::uint32_t world_size = 1) {
  ProcessOptions options;
  options.rank = rank;
  options.world_size = world_size;
  options.pid = 100 + rank;
  options.tick_step = 100'000;  // 0.1 ms: times that a reader can follow
  return options;
}

ProcessBuilder Process(const ProcessOptions& options) {
  ProcessBuilder process(options);
  process.info().set_torch_version("2.11.0+cpu");
  process.info().set_python_version("3.11.7");
  process.info().set_memoir_version("0.1.0");
  return process;
}

TensorSpec Matrix(std::uint64_t storage, std::int64_t rows, std::int64_t columns, std::uint32_t on = 0) {
  const auto bytes = static_cast<std::uint64_t>(rows * columns * 4);
  return {.storage = storage, .storage_bytes = bytes, .sizes = {rows, columns}, .device = on};
}

// A weight that stays, and the activations of a step that do not.
void Weights(ProcessBuilder& process) {
  process.Begin("aten::randn").Allocate(0x10000, 4 * kMiB).End({Matrix(0x10000, 1024, 1024)});
  process.Begin("aten::zeros").Allocate(0x20000, 4 * kKiB).End({Matrix(0x20000, 1, 1024)});
}

void Step(ProcessBuilder& process, std::uint64_t step) {
  const std::uint64_t base = 0x1000000 * (step + 1);
  process.Step(step).BeginUser("forward");
  process.Begin("aten::linear", {Matrix(0x90000, 256, 1024), Matrix(0x10000, 1024, 1024)});
  process.Begin("aten::addmm").Allocate(base, kMiB).Allocate(base + 0x1000, 512 * kKiB).Deallocate(base + 0x1000);
  process.End({Matrix(base, 256, 1024)}).End({Matrix(base, 256, 1024)});
  process.Begin("aten::relu").Allocate(base + 0x2000, kMiB).End({Matrix(base + 0x2000, 256, 1024)}).End();
  process.OnThread(2).BeginBackward("AddmmBackward0", static_cast<std::int64_t>(step), 1);
  process.Begin("aten::mm").Allocate(base + 0x3000, 4 * kMiB).End({Matrix(base + 0x3000, 1024, 1024)});
  process.Deallocate(base).Deallocate(base + 0x2000).End().OnThread(1);
  process.BeginUser("Optimizer.step#SGD.step").Begin("aten::add_").End().Deallocate(base + 0x3000).End();
}

ProcessBuilder Training() {
  ProcessBuilder process = Process(Options());
  process.NameThread(1, "MainThread").NameThread(2, "autograd");
  Weights(process);
  process.Mark("model built");
  for (std::uint64_t step = 0; step < 3; ++step) Step(process, step);
  process.Allocate(0x30000, 100).Mark("done");
  return process;
}

// Two steps of a model of one layer and its optimizer, with all that tells categories.
ProcessBuilder Trained() {
  ProcessBuilder process = Process(Options());
  process.info().add_sources("modules");
  constexpr std::uint64_t kWeight = 0x10000, kBias = 0x20000, kMean = 0x30000, kGradient = 0x40000, kInput = 0x50000,
                          kHidden = 0x60000, kScratch = 0x70000, kFlow = 0x80000, kMomentum = 0x90000;
  const auto tensor = [](std::uint64_t storage) {
    return TensorSpec{.impl = storage + 1, .storage = storage, .storage_bytes = kMiB, .sizes = {512, 512}};
  };
  const TensorSpec none{.impl = 0, .sizes = {}};
  const auto make = [&](const std::string& name, std::uint64_t storage, std::uint64_t bytes) {
    process.Begin(name).Allocate(storage, bytes).End({tensor(storage)});
  };
  make("aten::uniform_", kWeight, 4 * kMiB);
  make("aten::uniform_", kBias, 8 * kKiB);
  make("aten::zeros", kMean, 8 * kKiB);
  for (std::uint64_t step = 0; step < 2; ++step) {
    process.Step(step);
    make("aten::randn", kInput, kMiB);
    process.EnterModule("fc", "Linear", "Net");
    process.ModuleHolds("fc", {{tensor(kWeight), tensor(kBias)}, {none, none}, {tensor(kMean)}},
                        {"weight", "bias", "mean"}, "Linear", "Net");
    process.BeginForward("aten::linear", static_cast<std::int64_t>(2 * step)).Allocate(kHidden, 2 * kMiB);
    process.End({tensor(kHidden)}).BeginForward("aten::dropout", static_cast<std::int64_t>(2 * step + 1));
    process.Allocate(kScratch, kMiB).End({tensor(kScratch)}).ExitModule("fc", "Linear", "Net").Deallocate(kScratch);
    process.BeginBackward("NativeDropoutBackward0", static_cast<std::int64_t>(2 * step + 1), 1).End();
    process.BeginBackward("AddmmBackward0", static_cast<std::int64_t>(2 * step), 1);
    process.Begin("aten::mm", {tensor(kHidden), tensor(kInput)}).Allocate(kGradient, 4 * kMiB);
    process.End({tensor(kGradient)}).Deallocate(kHidden).Begin("aten::mul", {tensor(kGradient)});
    process.Allocate(kFlow, 2 * kMiB).End({tensor(kFlow)}).End();
    process.BeginBackward("torch::autograd::AccumulateGrad", 9, 1).GradientOf(tensor(kWeight), tensor(kGradient));
    process.End().Deallocate(kFlow).BeginUser("Optimizer.step#SGD.step");
    if (step == 0) process.Begin("aten::clone").Allocate(kMomentum, 4 * kMiB).End({tensor(kMomentum)});
    process.OptimizerHolds(1, {{tensor(kWeight), tensor(kBias)}, {tensor(kGradient), none}, {tensor(kMomentum)}, {}});
    process.End().Deallocate(kGradient).Deallocate(kInput);
  }
  return process;
}

ProcessBuilder OneOperator() {
  ProcessBuilder process = Process(Options());
  process.Begin("aten::ones").Allocate(0x1000, 4).End();
  return process;
}

// A model of two layers with a tied head, one step: forward, backward on another thread, one layer computed again.
ProcessBuilder Modules() {
  ProcessBuilder process = Process(Options());
  const auto call = [&](const std::string& path, const std::string& name, std::int64_t sequence,
                        std::uint64_t address) {
    process.EnterModule(path, name, "Net").BeginForward("aten::linear", sequence).Allocate(address, kMiB).End();
    process.ExitModule(path, name, "Net");
  };
  Weights(process);
  process.EnterModule("", "Net", "Net").BeginForward("aten::add", 0).Allocate(0x100000, 2 * kMiB).End();
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const std::string path = "layers." + std::to_string(layer);
    process.EnterModule(path, "Block", "Net");
    call(path + ".mlp.fc1", "Linear", 1 + 2 * layer, 0x200000u + 0x20000u * static_cast<std::uint64_t>(layer));
    call(path + ".mlp.fc2", "Linear", 2 + 2 * layer, 0x210000u + 0x20000u * static_cast<std::uint64_t>(layer));
    process.ExitModule(path, "Block", "Net");
  }
  process.ExitModule("", "Net", "Net");
  process.EnterModule("", "Critic", "Critic").BeginText("Torch-Compiled Region: 0/0").Allocate(0x400000, 3 * kMiB);
  process.End().ExitModule("", "Critic", "Critic");
  process.OnThread(2).BeginText("autograd::engine::evaluate_function: AddmmBackward0");
  process.BeginBackward("AddmmBackward0", 4, 1).Begin("aten::mm").Allocate(0x500000, kMiB).End().End();
  process.Allocate(0x510000, kKiB).End();
  call("layers.0.mlp.fc1", "Linear", 9, 0x520000);
  process.BeginText("autograd::engine::evaluate_function: Checkpoint").BeginBackward("Checkpoint", 1, 1);
  call("layers.0.mlp.fc1", "Linear", 9, 0x530000);
  process.End().End();
  process.OnThread(1).BeginUser("Optimizer.step#AdamW.step").Begin("aten::zeros_like").Allocate(0x600000, kMiB);
  process.End().End().Deallocate(0x400000).Deallocate(0x200000);
  return process;
}

// Tensors of modules and an optimizer, in today's form and in the first one.
ProcessBuilder Held() {
  ProcessBuilder process = Process(Options());
  const auto tensor = [](std::uint64_t number, std::int64_t size) {
    return TensorSpec{.impl = 0x1000 + number, .storage = 0x10000 * number, .storage_bytes = 64, .sizes = {size}};
  };
  const TensorSpec none{.impl = 0, .sizes = {}}, weight = tensor(1, 16), bias = tensor(2, 4), mean = tensor(3, 4);
  const TensorSpec leaf = tensor(4, 2), weight_gradient = tensor(5, 16), momentum = tensor(6, 16), step = tensor(7, 1);
  process.ModuleHolds("norm", {{weight, bias}, {none, none}, {mean}}, {"weight", "bias", "running_mean"}, "Norm");
  process.ModuleHolds("old", {{weight}, {none}}, {}, "Norm").ModuleHolds("table", {{}, {}, {mean}}, {"odd \"name\""});
  process.ModuleHolds("many", {{weight}, {none}, {}}, {"0"}).HoldsMore({{bias}, {none}, {mean}}, {"1", ""});
  process.BeginBackward("torch::autograd::AccumulateGrad", 3, 1).GradientOf(weight, weight_gradient).End();
  process.BeginBackward("torch::autograd::AccumulateGrad", 4, 1).GradientOf(leaf, none).End();
  process.OptimizerHolds(1, {{weight, leaf}, {weight_gradient, none}, {step, momentum}, {}});
  process.HoldsMore({{bias}, {none}, {step, momentum}}, {"", "", ""}).OptimizerHolds(1, {{}, {}});
  process.OptimizerHolds(2, {{weight, bias}, {none, none}, {step, momentum, step}}).OptimizerHolds(2, {{}, {}, {}});
  return process;
}

// A CUDA device and the host's: a weight, a step with a library's workspace, and one that requests too much.
ProcessBuilder Cuda() {
  ProcessBuilder process = Process(Options());
  process.info().set_torch_version("2.11.0+cu130");
  process.info().set_simulated_device("NVIDIA L4 (l4) with 64.0 MiB");
  const std::uint32_t cuda = process.AddDevice("cuda", 0, "NVIDIA L4");
  process.Begin("aten::randn").Allocate(0x10000, 4 * kMiB).End();
  process.Begin("aten::to").ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x1000000, 20 * kMiB);
  process.CountDevice(cuda, {0, 0, 20 * kMiB, 0, 0}).AllocateBlock(cuda, 0x1000000, 4 * kMiB, 4 * kMiB - 96);
  process.End({Matrix(0x1000000, 1024, 1024, cuda)}).Deallocate(0x10000).Step(0).EnterModule("", "Net", "Net");
  process.EnterModule("layers.0", "Linear", "Net").BeginForward("aten::linear", 0);
  process.AllocateBlock(cuda, 0x1400000, 12 * kMiB).AllocateBlock(cuda, 0x2000000, kMiB);
  process.End({Matrix(0x1400000, 3072, 1024, cuda)}).ExitModule("layers.0", "Linear", "Net");
  process.ExitModule("", "Net", "Net").OnThread(2).BeginBackward("AddmmBackward0", 0, 1).Begin("aten::mm");
  process.ChangeSegment(v1::SEGMENT_ALLOCATE, cuda, 0x4000000, 2 * kMiB);
  process.CountDevice(cuda, {17 * kMiB, 17 * kMiB, 22 * kMiB, 0, 0});
  process.AllocateBlock(cuda, 0x4000000, kMiB).FreeBlock(cuda, 0x4000000).End().End().OnThread(1);
  process.RequestFree(cuda, 0x1400000).Step(1).EnterModule("", "Net", "Net").EnterModule("layers.0", "Linear", "Net");
  process.BeginForward("aten::linear", 1).ChangeSegment(v1::SEGMENT_FREE, cuda, 0x4000000, 2 * kMiB);
  process.CountDevice(cuda, {5 * kMiB, 17 * kMiB, 20 * kMiB, 1, 0});
  process.RunOutOfMemory(cuda, 60 * kMiB, 3 * kMiB + 512).End().CompleteFree(cuda, 0x1400000);
  return process;
}

// CUDA memory that was not recorded: never (`known` false), or from the middle of the recording on.
ProcessBuilder CudaUnknown(bool known) {
  ProcessBuilder process = Process(Options());
  process.info().set_torch_version("2.11.0+cu130");
  process.Begin("aten::randn").Allocate(0x10000, 4 * kMiB).End();
  if (known) {
    const std::uint32_t cuda = process.AddDevice("cuda", 0, "NVIDIA L4");
    process.Begin("aten::to").TakeSegment(cuda, 0x1000000, 20 * kMiB).AllocateBlock(cuda, 0x1000000, 4 * kMiB);
    process.End({Matrix(0x1000000, 1024, 1024, cuda)});
  }
  v1::Unrecorded& unrecorded = *process.info().add_unrecorded();
  unrecorded.set_what(v1::Unrecorded::CUDA_MEMORY);
  unrecorded.set_begin_tick(process.tick());
  unrecorded.set_why(known ? "torch failed to show the blocks that were live (its snapshot threw an exception)"
                           : "torch's CUDA allocator was not found in the libraries that are loaded");
  process.Begin("aten::add").Allocate(0x20000, kMiB).End().Deallocate(0x20000);
  return process;
}

ProcessBuilder OddNames() {
  ProcessBuilder process = Process(Options());
  process.info().set_program("evil\x1b[2J\x1b]0;title\x07.py");
  process.info().set_host("host\nmemoir: all is well");
  const std::vector<std::string> names = {
      "my_library::" + std::string(150, 'x') + "_backward.overload_name",
      "模型::注意力机制.前向传播",
      "red \x1b[31malert\x1b[0m\r\n\t",
      "reversed \u202Eelif\u202C",
      "\U0001F525 fire",
      "",
  };
  std::uint64_t address = 0x1000;
  for (const std::string& name : names) {
    process.BeginUser(name).Begin(name).Allocate(address, address * 1000).End().End().Mark(name);
    address += 0x1000;
  }
  return process;
}

// More siblings than a table shows, and ranges deeper than a tree on a terminal does.
ProcessBuilder Many() {
  ProcessBuilder process = Process(Options());
  std::uint64_t address = 0x1000;
  for (int i = 0; i < 14; ++i) {
    process.Begin("many::op" + std::to_string(i)).Allocate(address, 100 + address).Allocate(address + 8, 8);
    process.Deallocate(address + 8).End();
    address += 0x1000;
  }
  for (int i = 0; i < 9; ++i) process.BeginUser("deep" + std::to_string(i));
  process.Allocate(address, 5);
  for (int i = 0; i < 9; ++i) process.End();
  return process;
}

void WriteRanks(const std::string& folder) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ProcessBuilder process = Process(Options(rank, 2));
    Weights(process);
    if (rank == 1) {
      const std::uint32_t gpu = process.AddDevice("cuda", 0, "H100");
      process.Begin("aten::empty.memory_format").Allocate(0x700000, 64 * kMiB, gpu).End();
    }
    Step(process, 0);
    process.WriteTo(folder);
  }
}

void WriteJobRank(const std::string& folder, std::uint32_t rank, std::uint32_t restart) {
  ProcessOptions options = Options(rank, 4);
  options.restart = restart;
  options.pid = 100 + rank + 10 * restart;
  ProcessBuilder process = Process(options);
  process.Begin("aten::ones").Allocate(0x1000, (rank + 1) * kMiB).End();
  if (rank == 3) process.info().set_rank_conflict("RANK=3 (torchrun) and PMI_RANK=2 (PMI) contradict each other: ...");
  process.WriteTo(folder);
}

// torchrun started it anew and lost rank 2; the script that called torchrun ran an operator; its helper only imported
// torch.
void WriteJob(const std::string& folder) {
  for (const std::uint32_t rank : {0, 1, 2, 3}) WriteJobRank(folder, rank, 0);
  for (const std::uint32_t rank : {0, 1, 3}) WriteJobRank(folder, rank, 1);
  ProcessOptions options = Options();
  options.pid = 90;
  ProcessBuilder parent = Process(options);
  parent.Begin("aten::zeros").Allocate(0x1000, 5 * kKiB).End();
  parent.WriteTo(folder);
  options.pid = 91;
  Process(options).WriteTo(folder);
}

void WriteLosses(const std::string& folder) {
  ProcessBuilder process = Process(Options());
  Weights(process);
  process.counters().set_dropped_records(12);
  process.counters().set_dropped_allocated_bytes(3 * kMiB);
  process.counters().set_slotless_records(2);
  process.counters().set_forked_children(3);
  process.counters().set_lost_events(5);
  process.counters().set_last_write_error("No space left on device\x1b[1m");
  process.LoseRecords(12);
  Step(process, 0);
  process.EndChunk().SkipChunks(2);
  Step(process, 1);
  process.EndChunk();
  Step(process, 2);
  process.Kill();
  const std::string whole = process.parts().front();
  WriteFile(folder + "/" + process.FileName(0), whole.substr(0, whole.size() - 20));
}

ProcessBuilder Folded() {
  ProcessBuilder process = Process(Options());
  Weights(process);
  Step(process, 0);
  process.EndPart();
  Step(process, 1);
  process.EndPart();
  Step(process, 2);
  process.FoldParts(1);
  return process;
}

// A peak that lies in the part that is gone, and a newest part that could not be closed.
ProcessBuilder FoldedPeak() {
  ProcessBuilder process = Process(Options());
  process.Begin("aten::load").Allocate(0x900000, 64 * kMiB).End().Deallocate(0x900000);
  process.EndPart();
  process.counters().set_lost_chunks(1);
  process.counters().set_last_write_error("Disk quota exceeded");
  Step(process, 0);
  process.FoldParts(1);
  return process;
}

// Off for a while, then windows of steps.
ProcessBuilder Paused() {
  ProcessBuilder process = Process(Options());
  Weights(process);
  process.SwitchTo(v1::LEVEL_OFF).AtTick(process.tick() + 1'000'000).SwitchTo(v1::LEVEL_ALL);
  Step(process, 0);
  for (std::uint64_t step = 1; step < 6; ++step) {
    process.SwitchTo(v1::LEVEL_MEMORY).Allocate(0x900000, kMiB).Deallocate(0x900000).SwitchTo(v1::LEVEL_ALL);
    Step(process, step);
  }
  return process;
}

// A GPU that others than torch fill, until NCCL finds no room for a communicator.
ProcessBuilder Driver() {
  ProcessBuilder process = Process(Options());
  const std::uint32_t gpu = process.AddDevice("cuda", 0, "NVIDIA L4");
  const std::uint32_t pinned = process.AddDevice("pinned", 0);
  constexpr std::uint64_t kTotal = 22528 * kMiB;
  const auto read = [&](v1::ReadingCause cause, std::uint64_t used) {
    process.ReadDevice(
        gpu, cause,
        {.free = kTotal - used * kMiB, .total = kTotal, .process = used * kMiB - 300 * kMiB, .others = 300 * kMiB});
  };
  process.GiveDriverBlock(gpu, 0x10, 244 * kMiB, v1::CONTEXT, "libtorch_cuda.so");
  read(v1::START, 544);
  process.EnterModule("", "Net").EnterModule("fc", "Linear").Begin("aten::linear");
  process.TakeSegment(gpu, 0x1000000, 12000 * kMiB).AllocateBlock(gpu, 0x1000000, 9000 * kMiB);
  process.GiveDriverBlock(gpu, 0x500000000, 64 * kMiB, v1::MALLOC, "libcublas.so.12");
  process.End({Matrix(0x1000000, 9000 * 256, 1024, gpu)});
  process.ExitModule("fc", "Linear").ExitModule("", "Net").Step(0);
  process.GiveDriverBlock(gpu, 0x600000000, 37 * kMiB, v1::MALLOC, "libforeign.so");
  process.GiveDriverBlock(gpu, 0x700000000, 8000 * kMiB, v1::MEMORY_CREATE, "libnccl.so.2");
  process.GiveDriverBlock(gpu, 0x800000000, 5 * kMiB, v1::MALLOC_MANAGED, "libforeign.so");
  process.Begin("aten::pin_memory").Allocate(0x9000, 3 * kMiB, pinned);
  process.GiveDriverBlock(0, 0x9000, 4 * kMiB, v1::HOST_ALLOCATE, "libtorch_cuda.so").End();
  read(v1::PEAK, 20645);
  process.Begin("c10d::broadcast_")
      .RefuseDriver(gpu, 4000 * kMiB, v1::MALLOC, "libnccl.so.2", 2, 1883 * kMiB)
      .RefuseDriver(gpu, 0, v1::COMMUNICATOR, "libnccl.so.2", 1, 1883 * kMiB);
  read(v1::REFUSED, 20645);
  process.End();
  process.Begin("aten::pin_memory").RefuseDriver(0, 64000 * kMiB, v1::HOST_ALLOCATE, "libtorch_cuda.so", 2, 0).End();
  process.TakeDriverBlock(gpu, 0x600000000).TakeDriverBlock(gpu, 0x500000000);
  read(v1::LAST, 20644);
  return process;
}

}  // namespace

std::vector<std::string> SampleNames() {
  return {"training", "empty",  "one_operator", "odd_names", "many",    "ranks",  "job",
          "losses",   "folded", "folded_peak",  "paused",    "modules", "held",   "trained",
          "cuda",     "driver", "cuda_unknown", "cuda_lost", "calls",   "kernels"};
}

void WriteSample(const std::string& name, const std::string& folder) {
  std::filesystem::create_directories(folder);
  if (name == "training") Training().WriteTo(folder);
  if (name == "empty") Process(Options()).WriteTo(folder);
  if (name == "one_operator") OneOperator().WriteTo(folder);
  if (name == "odd_names") OddNames().WriteTo(folder);
  if (name == "many") Many().WriteTo(folder);
  if (name == "ranks") WriteRanks(folder);
  if (name == "job") WriteJob(folder);
  if (name == "losses") WriteLosses(folder);
  if (name == "paused") Paused().WriteTo(folder);
  if (name == "modules") Modules().WriteTo(folder);
  if (name == "trained") Trained().WriteTo(folder);
  if (name == "held") Held().WriteTo(folder);
  if (name == "cuda") Cuda().WriteTo(folder);
  if (name.starts_with("cuda_")) CudaUnknown(name == "cuda_lost").WriteTo(folder);
  if (name.starts_with("kernel")) (name == "kernels" ? WriteKernels : WriteKernelTimes)(folder);
  if (name == "driver") Driver().WriteTo(folder);
  if (name.starts_with("folded")) (name == "folded" ? Folded() : FoldedPeak()).WriteTo(folder);
  if (name == "calls") WriteCalls(folder);
}

}  // namespace memoir::testing
