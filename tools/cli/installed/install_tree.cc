#include "tools/cli/installed/install_tree.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace memoir {

InstallTree FindInstallTree() {
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) program = std::filesystem::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), error);
  InstallTree tree;
  tree.root = program.parent_path().parent_path();
  tree.interposer = tree.root / MEMOIR_LIB_DIR / "libmemoir_interpose.so";
  tree.simulated_device = tree.root / MEMOIR_LIB_DIR / "libmemoir_simcuda.so";
  tree.simulated_driver = tree.root / MEMOIR_LIB_DIR / "simulated" / "libcuda.so.1";
  // A wheel contains the library only under the driver's name: wheels contain no links, and two copies of the library
  // would be two separate devices.
  if (!std::filesystem::exists(tree.simulated_device, error) && std::filesystem::exists(tree.simulated_driver, error))
    tree.simulated_device = tree.simulated_driver;
  tree.simulated_cards = tree.root / MEMOIR_LIB_DIR / "simulated_gpus.txt";
  tree.python = tree.root / MEMOIR_PYTHON_DIR;
  tree.drain = tree.root / MEMOIR_LIBEXEC_DIR / "memoir-drain";
  tree.symbolizer = tree.root / MEMOIR_LIBEXEC_DIR / "memoir-symbolize";
  tree.report_page = tree.root / MEMOIR_LIB_DIR / "report.html";
  tree.queries = tree.root / MEMOIR_LIB_DIR / "queries";
  tree.trackers = tree.root / MEMOIR_LIB_DIR;
  return tree;
}

namespace {

// Returns a key for sorting, in which 2.6 comes before 2.10.
std::pair<std::vector<long>, std::string> NumbersOf(const std::string& version) {
  std::vector<long> numbers;
  std::istringstream parts(version);
  for (std::string part; std::getline(parts, part, '.');) numbers.push_back(std::strtol(part.c_str(), nullptr, 10));
  return {numbers, version};
}

}  // namespace

std::vector<std::string> TrackedTorchVersions(const InstallTree& tree) {
  constexpr std::string_view kPrefix = "libmemoir_tracker-torch";
  constexpr std::string_view kSuffix = ".so";
  std::vector<std::string> versions;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(tree.trackers, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    versions.push_back(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
  }
  std::ranges::sort(versions, {}, NumbersOf);
  return versions;
}

}  // namespace memoir
