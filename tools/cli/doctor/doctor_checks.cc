#include "tools/cli/doctor/doctor_checks.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "fmt/format.h"
#include "proto/memoir/byte_size.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/environment.h"
#include "tools/cli/attach/folder_facts.h"
#include "tools/cli/attach/record_options.h"
#include "tools/cli/doctor/own_table_check.h"
#include "tools/cli/installed/elf_symbols.h"
#include "tools/cli/installed/python_facts.h"
#include "tools/cli/process/child_process.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using Level = DoctorCheck::Level;
using Checks = std::vector<DoctorCheck>;

// Size of the ring's file without its ring extents: 4.5 MiB of names, thread slots and headers (docs/architecture.md),
// rounded up.
constexpr std::uint64_t kRingOverhead = 19u << 18;
constexpr std::uint64_t kDefaultSegmentBytes = 32u << 20;                 // default of --ring-size
constexpr std::uint64_t kSmallestRingBytes = (2u << 20) + kRingOverhead;  // the tracker refuses smaller rings
constexpr std::uint64_t kShareOfSharedMemory = 2;  // /dev/shm needs twice the size, because programs also use it

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

DoctorCheck PartCheck(const std::string& subject, const std::filesystem::path& path) {
  if (Exists(path)) return {Level::kFine, subject, path.string(), ""};
  return {Level::kWrong, subject, path.string() + " is missing", "install Memoir again"};
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

DoctorCheck TrackersCheck(const InstallTree& tree) {
  const auto versions = TrackedTorchVersions(tree);
  if (!versions.empty()) return {Level::kFine, "trackers", "for torch " + Joined(versions), ""};
  return {Level::kWrong, "trackers", "none in " + tree.trackers.string(), "install Memoir again, built for your torch"};
}

DoctorCheck TrackerCheck(const InstallTree& tree, const PythonFacts& python) {
  const auto versions = TrackedTorchVersions(tree);
  if (std::ranges::find(versions, python.torch_minor) != versions.end()) {
    return {Level::kFine, "tracker", "for torch " + python.torch_minor, ""};
  }
  return {Level::kWrong, "tracker", "none for torch " + python.torch_version + ": its programs run unrecorded",
          fmt::format("in Memoir's sources: {} -m pip install . (builds one for torch {})",
                      TypedWord(python.executable), python.torch_minor)};
}

// tracker/stacks/frame_layout.cc lists the interpreters with known frames.
DoctorCheck StacksCheck(const PythonFacts& python) {
  constexpr std::string_view kKnown[] = {"3.10.", "3.11.", "3.12.", "3.13.", "3.14."};
  const bool known =
      std::ranges::any_of(kKnown, [&](std::string_view minor) { return python.version.starts_with(minor); });
  if (known && python.build == "cpython") return {Level::kFine, "Python stacks", "of this Python", ""};
  const std::string what =
      python.build == "cpython" ? "Python " + python.version : python.build + " Python " + python.version;
  return {Level::kNote, "Python stacks", "not of " + what + ": blocks will have no lines; all else is recorded",
          "record with a released CPython, 3.10 to 3.14"};
}

// The symbols of torch that a tracker needs to record CUDA memory
// (tracker/torch/cuda_allocator/cuda_allocator_hook.cc).
constexpr std::string_view kCudaAllocator = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr std::string_view kCudaReport = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";

// Returns true if the tracker contains the name of torch's CUDA allocator. A tracker that was built without CUDA lacks
// the name.
bool HasCuda(const std::filesystem::path& tracker) {
  std::ifstream file(tracker, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes.find(kCudaAllocator) != std::string::npos;
}

// Returns nullopt for a torch without CUDA.
std::optional<DoctorCheck> CudaMemoryCheck(const InstallTree& tree, const PythonFacts& python) {
  const std::filesystem::path library = std::filesystem::path(python.torch_folder) / "lib" / "libc10_cuda.so";
  if (!Exists(library)) return std::nullopt;
  const auto symbols = ReadDynamicSymbols(
      library.string(), [](std::string_view name) { return name == kCudaAllocator || name == kCudaReport; });
  if (!symbols.ok() || !symbols->defined.contains(std::string(kCudaAllocator)) ||
      !symbols->wanted.contains(std::string(kCudaReport))) {
    return DoctorCheck{Level::kWrong, "CUDA memory",
                       "not known: torch's allocator is not found in " + library.string() + ": it will not be recorded",
                       "install a torch and a Memoir that were built for each other"};
  }
  if (!HasCuda(tree.trackers / fmt::format("libmemoir_tracker-torch{}.so", python.torch_minor))) {
    return DoctorCheck{Level::kWrong, "CUDA memory",
                       fmt::format("not known: the tracker for torch {} was built without CUDA", python.torch_minor),
                       "build Memoir beside a torch with CUDA, with the headers that setup/requirements.txt names"};
  }
  return DoctorCheck{Level::kFine, "CUDA memory", "blocks and segments of torch's allocator", ""};
}

// Checks that --kernels times finds CUPTI (tracker/cupti/cupti_library.cc). Returns nullopt for a torch without CUDA.
std::optional<DoctorCheck> CuptiCheck(const PythonFacts& python) {
  const std::filesystem::path torch = python.torch_folder, wheels = torch.parent_path() / "nvidia";
  if (!Exists(torch / "lib" / "libc10_cuda.so")) return std::nullopt;
  for (const std::filesystem::path& path :
       {wheels / "cu13" / "lib" / "libcupti.so.13", wheels / "cuda_cupti" / "lib" / "libcupti.so.12"}) {
    if (Exists(path)) return DoctorCheck{Level::kFine, "CUPTI", path.string() + ", for --kernels times", ""};
  }
  const std::filesystem::path old = wheels / "cuda_cupti" / "lib" / "libcupti.so.11.8";
  if (Exists(old))
    return DoctorCheck{Level::kNote, "CUPTI", old.string() + " is older than CUDA 12's: no --kernels times",
                       "a torch that was built for CUDA 12 or 13"};
  return DoctorCheck{Level::kNote, "CUPTI", "not beside torch: --kernels times needs it from the system",
                     "install the wheel nvidia-cuda-cupti"};
}

DoctorCheck TorchCheck(const PythonFacts& python) {
  if (python.torch_folder.empty()) {
    return {Level::kWrong, "torch", "not installed in this python",
            "name the python of your program: memoir doctor --python PATH"};
  }
  if (python.torch_version.empty()) {
    return {Level::kWrong, "torch", "no version in " + python.torch_folder + "/version.py", "install torch again"};
  }
  return {Level::kFine, "torch", python.torch_version + " in " + python.torch_folder, ""};
}

std::uint64_t RingBytes() {
  const std::optional<std::uint64_t> set = ParseSize(Variable("MEMOIR_RING_SIZE"));
  return set.value_or(kDefaultSegmentBytes) + kRingOverhead;
}

// Checks the folder that RingOpen would choose: MEMOIR_RING_DIR if it is set, otherwise the first folder with room for
// the whole ring.
DoctorCheck RingCheck() {
  const std::string chosen = Variable("MEMOIR_RING_DIR");
  std::vector<std::string> folders = {chosen};
  if (chosen.empty()) folders = {"/dev/shm", Variable("TMPDIR"), "/tmp"};
  std::string refused;
  std::optional<FolderFacts> small;
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    const FolderFacts facts = ExamineFolder(folder);
    const std::string where = fmt::format("{} ({} free)", folder, FormatBytes(facts.room));
    const std::string cause = !facts.error.empty()     ? facts.error
                              : !facts.network.empty() ? "on a network: " + facts.network
                                                       : "";
    const std::uint64_t wanted = RingBytes() * (chosen.empty() && folder == "/dev/shm" ? kShareOfSharedMemory : 1);
    if (cause.empty() && facts.room >= wanted) return {Level::kFine, "ring folder", where, ""};
    if (cause.empty() && facts.room >= kSmallestRingBytes && !small) small = facts;
    refused += (refused.empty() ? "" : "; ") + where + (cause.empty() ? "" : ": " + cause);
  }
  const std::string fix = "set MEMOIR_RING_DIR (or --ring-dir) to a local folder with 64 MiB free";
  if (small)
    return {Level::kNote, "ring folder",
            fmt::format("{} has {} free: the ring will be smaller", small->path, FormatBytes(small->room)), fix};
  return {Level::kWrong, "ring folder", refused, fix};
}

DoctorCheck SharedMemoryCheck() {
  const FolderFacts facts = ExamineFolder("/dev/shm");
  if (!facts.error.empty())
    return {Level::kNote, "/dev/shm", facts.error, "the ring goes to TMPDIR or /tmp; on a disk it is slower"};
  if (facts.room < kShareOfSharedMemory * RingBytes()) {
    return {Level::kNote, "/dev/shm", FormatBytes(facts.room) + " free: left to the program, the ring goes elsewhere",
            "in a container: --shm-size=1g"};
  }
  return {Level::kFine, "/dev/shm", FormatBytes(facts.room) + " free", ""};
}

DoctorCheck OutputCheck(const std::string& output) {
  constexpr std::uint64_t kLittle = std::uint64_t{1} << 30;
  const FolderFacts facts = ExamineFolder(NearestExisting(output));
  const std::string where = fmt::format("{} ({} free)", facts.path, FormatBytes(facts.room));
  if (!facts.error.empty())
    return {Level::kWrong, "output folder", where + ": " + facts.error, "choose another with -o DIR"};
  if (!facts.network.empty()) {
    return {Level::kNote, "output folder", where + " is on a network: " + facts.network,
            "a slow one makes the program wait; a local folder (-o DIR) does not"};
  }
  if (facts.room < kLittle)
    return {Level::kNote, "output folder", where, "cap the recording with --max-size, or choose another with -o DIR"};
  return {Level::kFine, "output folder", where, ""};
}

// Checks that the kernel has MADV_WIPEONFORK. With it, every forked child detects that the recording belongs to its
// parent. Without it, only children of fork() detect this.
DoctorCheck KernelCheck() {
  utsname system = {};
  uname(&system);
  int major = 0, minor = 0;
  const char* const end = system.release + std::strlen(system.release);
  const auto [dot, error] = std::from_chars(system.release, end, major);
  const bool known = error == std::errc{} && *dot == '.' && std::from_chars(dot + 1, end, minor).ec == std::errc{};
  if (!known || major > 4 || (major == 4 && minor >= 14)) return {Level::kFine, "kernel", system.release, ""};
  return {Level::kNote, "kernel",
          std::string(system.release) +
              " has no MADV_WIPEONFORK: children made by _Fork or clone may disturb the recording",
          "Linux 4.14 or newer; programs that use fork() need none"};
}

DoctorCheck PreloadCheck() {
  const std::string preload = Variable("LD_PRELOAD");
  if (preload.empty()) return {Level::kFine, "LD_PRELOAD", "not set", ""};
  return {Level::kNote, "LD_PRELOAD", preload, "it is kept behind Memoir's; if a program misbehaves, try without it"};
}

// Describes how launches of kernels are recorded (docs/kernels.md).
DoctorCheck KernelsCheck() {
  constexpr const char* kOfDriver = "launches from interposed calls of this driver; times (--kernels times) from CUPTI";
  constexpr const char* kOfSimulation =
      "launches from interposed calls, only on a simulated GPU: there is no driver, and CUPTI needs one for times";
  const bool driver = access("/proc/driver/nvidia/version", F_OK) == 0;
  return {Level::kFine, "CUDA kernels", driver ? kOfDriver : kOfSimulation, ""};
}

}  // namespace

Checks CheckInstallation(const InstallTree& tree) {
  Checks checks = {PartCheck("interposer", tree.interposer),
                   PartCheck("python package", tree.python / "_torch_memoir" / "__init__.py"),
                   PartCheck("memoir-drain", tree.drain), TrackersCheck(tree)};
  if (tree.interposer.string().find_first_of(" :") != std::string::npos) {
    checks.push_back({Level::kNote, "install path",
                      tree.root.string() + " holds a space or colon, which LD_PRELOAD cannot name",
                      "move the installed tree to a path without them"});
  }
  return checks;
}

Checks CheckPython(const InstallTree& tree, const std::string& python) {
  const auto facts = ExaminePython(python);
  if (!facts.ok()) {
    return {
        {Level::kWrong, "python", std::string(facts.status().message()), "name yours: memoir doctor --python PATH"}};
  }
  Checks checks = {{Level::kFine, "python", facts->version + " (" + facts->executable + ")", ""}, TorchCheck(*facts)};
  if (facts->torch_version.empty()) return checks;
  checks.push_back(TrackerCheck(tree, *facts));
  const bool tracked = checks.back().level == Level::kFine;
  const std::optional<DoctorCheck> cuda = tracked ? CudaMemoryCheck(tree, *facts) : std::nullopt;
  if (cuda) checks.push_back(*cuda);
  if (const std::optional<DoctorCheck> cupti = tracked ? CuptiCheck(*facts) : std::nullopt) checks.push_back(*cupti);
  if (tracked) checks.push_back(StacksCheck(*facts));
  return checks;
}

Checks CheckEnvironment() {
  Checks checks;
  if (const auto value = AutoloadRefusal()) {
    checks.push_back({Level::kWrong, "start-up",
                      fmt::format("TORCH_DEVICE_BACKEND_AUTOLOAD='{}' keeps torch from starting Memoir", *value),
                      "unset it, or call memoir.start() in the program"});
  } else {
    checks.push_back({Level::kFine, "start-up", "torch starts Memoir at the end of its import", ""});
  }
  const auto environment = CurrentEnvironment();
  for (const std::string& line : UnknownVariables(environment))
    checks.push_back({Level::kWrong, "variables", line, "correct or unset it"});
  for (const RecordOption& option : RecordOptions()) {
    const std::string value = Variable(option.variable);
    const auto normal = NormalizeOption(option, option.variable, value);
    if (!value.empty() && !normal.ok()) {
      checks.push_back({Level::kWrong, "variables", std::string(normal.status().message()), "correct or unset it"});
    }
  }
  checks.push_back(PreloadCheck());
  if (const std::string injection = Variable("NVTX_INJECTION64_PATH"); !injection.empty())
    checks.push_back(
        {Level::kNote, "NVTX",
         fmt::format("NVTX_INJECTION64_PATH={}: ranges of NVTX go there (and blocks, with --publish nvtx-memory)",
                     injection),
         "unset it to have them in the recording"});
  return checks;
}

Checks CheckSystem(const std::string& output) {
  return {RingCheck(), SharedMemoryCheck(), OutputCheck(output), KernelCheck(), CheckOwnTable(), KernelsCheck()};
}

}  // namespace memoir
