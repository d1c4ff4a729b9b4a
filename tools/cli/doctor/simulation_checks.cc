#include "tools/cli/doctor/simulation_checks.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "tools/cli/installed/elf_symbols.h"
#include "tools/cli/installed/python_facts.h"
#include "tools/cli/launch/simulated_device.h"

namespace memoir {
namespace {

using Level = DoctorCheck::Level;
using Names = std::set<std::string>;

// Names of functions in NVIDIA's libraries begin with the library's name.
bool IsCudaName(std::string_view name) {
  for (std::string_view family : {"__cuda", "cuda", "cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse",
                                  "nccl", "pnccl", "cupti", "nvshmem", "nvrtc", "nvml", "nvJitLink"}) {
    if (name.starts_with(family)) return true;
  }
  return name.starts_with("cu") && name.size() > 2 && std::isupper(static_cast<unsigned char>(name[2])) != 0;
}

// Returns true for a function of a library that is not simulated. The program uses the real library. Without a GPU, the
// function fails, or the program does not call it.
bool IsLeftToTheRealLibrary(std::string_view name) {
  for (std::string_view family : {"cuFile", "cupti", "nvshmem", "nvrtc", "nvml", "nvJitLink"}) {
    if (name.starts_with(family)) return true;
  }
  return false;
}

std::string FirstOf(const Names& names) {
  constexpr std::size_t kMost = 12;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (++shown > kMost) return text + fmt::format(" and {} more", names.size() - kMost);
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// Returns the CUDA functions that torch's libraries import.
Names WantedOfCuda(const std::filesystem::path& torch_folder) {
  Names wanted;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(torch_folder / "lib", error)) {
    if (entry.path().extension() != ".so") continue;
    const auto symbols = ReadDynamicSymbols(entry.path().string(), IsCudaName);
    if (symbols.ok()) wanted.insert(symbols->wanted.begin(), symbols->wanted.end());
  }
  return wanted;
}

std::vector<DoctorCheck> CompareSymbols(const InstallTree& tree, const PythonFacts& python) {
  const auto shown = ReadDynamicSymbols(tree.simulated_device.string(), IsCudaName);
  if (!shown.ok())
    return {{Level::kWrong, "simulated CUDA", std::string(shown.status().message()), "install Memoir again"}};
  const Names wanted = WantedOfCuda(python.torch_folder);
  if (wanted.empty()) {
    return {{Level::kWrong, "simulated CUDA", "this torch is built without CUDA",
             "install one with it: pip install torch"}};
  }
  Names missing, real;
  for (const std::string& name : wanted) {
    if (IsLeftToTheRealLibrary(name)) {
      real.insert(name);
    } else if (!shown->defined.contains(name)) {
      missing.insert(name);
    }
  }
  std::vector<DoctorCheck> checks;
  const std::size_t asked = wanted.size() - real.size();
  if (missing.empty()) {
    checks.push_back({Level::kFine, "simulated CUDA",
                      fmt::format("has all {} functions that torch {} imports", asked, python.torch_version), ""});
  } else {
    checks.push_back({Level::kWrong, "simulated CUDA",
                      fmt::format("lacks {} of {} functions that torch {} imports: {}", missing.size(), asked,
                                  python.torch_version, FirstOf(missing)),
                      "install a Memoir built beside this torch"});
  }
  if (!real.empty()) {
    checks.push_back({Level::kNote, "real libraries", "not replaced, used as they are: " + FirstOf(real),
                      "programs that need them (GPUDirect storage, symmetric memory, CUDA activity in torch.profiler) "
                      "see them fail"});
  }
  return checks;
}

DoctorCheck CardsCheck(const InstallTree& tree) {
  const auto cards = ReadSimulatedCards(tree, "");
  if (!cards.ok())
    return {Level::kWrong, "simulated GPU", std::string(cards.status().message()), "install Memoir again"};
  std::string names;
  for (const SimulatedCard& card : *cards) names += (names.empty() ? "" : ", ") + card.key;
  return {Level::kFine, "simulated GPU", names, ""};
}

}  // namespace

std::vector<DoctorCheck> CheckSimulatedDevice(const InstallTree& tree, const std::string& python) {
  std::error_code error;
  if (!std::filesystem::exists(tree.simulated_device, error)) {
    return {{Level::kWrong, "simulated GPU", tree.simulated_device.string() + " is missing",
             "build Memoir beside a torch with CUDA, with the headers that setup/requirements.txt names"}};
  }
  std::vector<DoctorCheck> checks = {CardsCheck(tree)};
  const auto facts = ExaminePython(python);
  if (!facts.ok() || facts->torch_folder.empty()) return checks;  // CheckPython() reports the cause
  for (DoctorCheck& check : CompareSymbols(tree, *facts)) checks.push_back(std::move(check));
  return checks;
}

}  // namespace memoir
