// The sample with calls of Python functions: of the user's own code, of a library, in C, and of Memoir's own package;
// ends that are lost, a call that is not known, and calls that were too deep to be recorded.
#include <cstdint>
#include <string>

#include "tests/captures/capture_builder.h"
#include "tests/golden/sample_captures.h"

namespace memoir::testing {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr const char* kTrain = "/src/train.py";
constexpr const char* kModel = "/src/model.py";

std::string InTorch(const std::string& file) { return "/usr/lib/python3.11/site-packages/torch/" + file; }

void Forward(ProcessBuilder& process, std::uint64_t address) {
  process.Call(InTorch("nn/modules/module.py"), "Module._wrapped_call_impl");
  process.Call("/usr/lib/python3.11/site-packages/memoir/_modules.py", "_enter").Return();
  process.EnterModule("", "Net", "Net").Call(kModel, "Net.forward").Call(kModel, "scale_and_shift");
  process.Call("", "<built-in method mul of type object>").BeginForward("aten::mul", 1).Allocate(address, 2 * kMiB);
  process.End().Return().Return().Return().ExitModule("", "Net", "Net").Return();
}

void Step(ProcessBuilder& process, std::uint64_t address) {
  process.Call(kTrain, "train_step").Call(InTorch("autograd/profiler.py"), "record_function.__enter__");
  process.BeginUser("step").Return();
  Forward(process, address);
  process.Call(InTorch("_tensor.py"), "Tensor.backward").Begin("aten::ones_like").Allocate(address + 0x800, kMiB);
  process.End().Return().Deallocate(address + 0x800);
  process.Call(InTorch("autograd/profiler.py"), "record_function.__exit__").End().Return().Return();
}

}  // namespace

void WriteCalls(const std::string& folder) {
  ProcessOptions options;
  options.rank = 0;
  options.world_size = 1;
  options.pid = 100;
  options.tick_step = 100'000;
  ProcessBuilder process(options);
  process.info().set_torch_version("2.11.0+cpu");
  process.info().set_python_version("3.11.7");
  process.info().set_memoir_version("0.1.0");
  process.NameThread(1, "MainThread").Call(kTrain, "<module>").Call(kTrain, "main");
  for (std::uint64_t step = 1; step <= 3; ++step) Step(process, 0x10000 * step);
  // The calls of load, read and parse; the last one's code is unknown.
  process.Call(kTrain, "load").Call(kTrain, "load.<locals>.read").LoseRecords(1).Return(2);
  process.Call(kTrain, "report").Call("", "").Begin("aten::item").Allocate(0x90000, 1024).End();
  process.counters().set_deep_calls(120);
  process.WriteTo(folder);
}

}  // namespace memoir::testing
