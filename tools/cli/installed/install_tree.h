// The files and folders of this installation of Memoir. They are found relative to the running program, so that the
// installation can be moved.
#ifndef TOOLS_CLI_INSTALLED_INSTALL_TREE_H_
#define TOOLS_CLI_INSTALLED_INSTALL_TREE_H_

#include <filesystem>
#include <string>
#include <vector>

namespace memoir {

struct InstallTree {
  std::filesystem::path root;
  std::filesystem::path interposer;        // lib/memoir/libmemoir_interpose.so
  std::filesystem::path python;            // folder for PYTHONPATH; holds the memoir package
  std::filesystem::path simulated_device;  // lib/memoir/libmemoir_simcuda.so; not in every installation
  std::filesystem::path simulated_driver;  // the same library, named lib/memoir/simulated/libcuda.so.1
  std::filesystem::path simulated_cards;   // lib/memoir/simulated_gpus.txt
  std::filesystem::path drain;             // libexec/memoir/memoir-drain
  std::filesystem::path symbolizer;        // libexec/memoir/memoir-symbolize; missing if built without libdw
  std::filesystem::path report_page;       // lib/memoir/report.html; missing if built without node
  std::filesystem::path queries;           // lib/memoir/queries, the SQL files of memoir query
  std::filesystem::path trackers;          // folder of libmemoir_tracker-torch<X.Y>.so
};

// Finds the tree from /proc/self/exe, or from the executed path if there is no /proc. The parts need not exist.
InstallTree FindInstallTree();

// The torch versions ("2.11") for which `tree` has a tracker, sorted.
std::vector<std::string> TrackedTorchVersions(const InstallTree& tree);

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_INSTALL_TREE_H_
