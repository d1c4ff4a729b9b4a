#include "tools/analyze/compare/recording_differences.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/compare/short_list.h"
#include "tools/analyze/pass/layer_pattern.h"
#include "tools/model/import_source.h"
#include "tools/model/job.h"
#include "tools/model/snapshot_trigger.h"

namespace memoir {
namespace {

using Words = std::set<std::string>;
using WordOf = std::function<std::string(const ProcessSummary&)>;

Words OfProcesses(const Capture& capture, const WordOf& word_of) {
  Words words;
  for (const ProcessSummary& process : capture.processes()) {
    if (IsIdle(capture, process.id)) continue;
    if (std::string word = word_of(process); !word.empty()) words.insert(std::move(word));
  }
  return words;
}

Words Cards(const Summary& summary) {
  Words cards;
  for (const DeviceRow& device : summary.devices) {
    if (!device.product.empty()) cards.insert(device.product);
  }
  return cards;
}

bool HasGpu(const Summary& summary) { return std::ranges::any_of(summary.devices, &DeviceRow::caching); }

std::string KindOf(const Capture& capture) {
  if (IsImported(capture)) return DescribeImport(ImportSourceOf(capture));
  return IsSnapshot(capture) ? "a snapshot" : "a recording";
}

// Returns the largest number of ranks that a launcher reported. Empty without a launcher.
std::string RanksOf(const Capture& capture) {
  std::uint32_t most = 0;
  for (const ProcessSummary& process : capture.processes()) most = std::max(most, process.info.world_size());
  return most == 0 ? "" : absl::StrCat(most);
}

std::string StepsOf(const Summary& summary) { return absl::StrCat(summary.steps); }

// Returns true if a LayerCount contains `module`: it is unknown which of the layers in a LayerCount were added.
bool IsCounted(const CommonModule& module, const std::vector<LayerCount>& counts) {
  return std::ranges::any_of(counts, [&](const LayerCount& count) { return count.Has(module.root, module.path); });
}

// Returns the names of up to three modules that `others` lacks, layers merged, and the number of further modules:
// "second_head, layers.*, head and 5 more". Empty if `others` lacks no module.
std::string ModulesOfOneSide(const std::set<CommonModule>& modules, const std::set<CommonModule>& others,
                             const std::vector<LayerCount>& counts) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named;
  std::set<std::string, std::less<>> listed, patterns;
  for (const CommonModule& module : others) patterns.insert(WithLayersMerged(module.place()));
  for (const CommonModule& module : modules) {
    if (others.contains(module) || IsCounted(module, counts)) continue;
    std::string path = WithLayersMerged(module.place());
    // If both captures have modules with this pattern, the pattern would not show the difference, so the path of the
    // module is used.
    if (patterns.contains(path)) path = module.place();
    // Leaves out a module inside of a module that is already listed.
    bool is_new = !listed.contains(path);
    for (std::size_t dot = path.find('.'); is_new && dot != std::string::npos; dot = path.find('.', dot + 1))
      is_new = !listed.contains(std::string_view(path).substr(0, dot));
    if (!is_new) continue;
    listed.insert(path);
    named.push_back(path);
  }
  return ShortList(std::move(named), kNamed);
}

class Differences {
 public:
  void Add(const std::string& what, const Words& a, const Words& b) {
    if (a != b) Add(what, absl::StrJoin(a, ", "), absl::StrJoin(b, ", "));
  }
  // Adds a difference. An empty value is unknown, so it makes no difference.
  void Add(const std::string& what, const std::string& a, const std::string& b) {
    if (a != b && !a.empty() && !b.empty()) found.push_back({what, a, b});
  }
  std::vector<RecordingDifference> found;
};

void AddModels(const RecordedSide& a, const RecordedSide& b, const ModuleNames& names, Differences& differences) {
  if (a.held.modules.empty() || b.held.modules.empty()) return;
  differences.Add("model", names.roots_of_a(), names.roots_of_b());
  std::set<CommonModule> of_a, of_b;
  for (const Module& module : a.held.modules) of_a.insert(names.CommonNameInA(module));
  for (const Module& module : b.held.modules) of_b.insert(names.CommonNameInB(module));
  const std::vector<LayerCount>& counts = names.layer_counts();
  for (const LayerCount& count : WithPlacesMerged(counts))
    differences.Add(count.place, absl::StrCat(count.a), absl::StrCat(count.b));
  const std::string only_a = ModulesOfOneSide(of_a, of_b, counts), only_b = ModulesOfOneSide(of_b, of_a, counts);
  if (!only_a.empty() || !only_b.empty()) differences.found.push_back({"modules", only_a, only_b});
}

std::string SourcesWord(const ProcessSummary& process) {
  const auto& sources = process.info.sources();
  return std::ranges::find(sources, "dispatch") == sources.end() ? "above autograd" : "below autograd (--ops dispatch)";
}

}  // namespace

std::vector<RecordingDifference> FindRecordingDifferences(const RecordedSide& a, const RecordedSide& b,
                                                          const ModuleNames& names) {
  Differences differences;
  const auto of_processes = [&](const std::string& what, const WordOf& word_of) {
    differences.Add(what, OfProcesses(a.capture, word_of), OfProcesses(b.capture, word_of));
  };
  differences.Add("file", KindOf(a.capture), KindOf(b.capture));
  // In an import, the field `program` contains the name of the imported file, so it is not compared.
  if (!IsImported(a.capture) && !IsImported(b.capture))
    of_processes("program", [](const ProcessSummary& process) { return process.info.program(); });
  of_processes("torch", [](const ProcessSummary& process) { return process.info.torch_version(); });
  of_processes("python", [](const ProcessSummary& process) { return process.info.python_version(); });
  const Words cards_a = Cards(a.summary), cards_b = Cards(b.summary);
  differences.Add("card", cards_a.empty() ? Words{"no GPU"} : cards_a, cards_b.empty() ? Words{"no GPU"} : cards_b);
  // Simulated GPUs have no product name.
  if (HasGpu(a.summary) && HasGpu(b.summary)) {
    of_processes("GPU", [](const ProcessSummary& process) {
      const std::string& simulated = process.info.simulated_device();
      return simulated.empty() ? "a real one" : "a simulated " + simulated;
    });
  }
  differences.Add("ranks", RanksOf(a.capture), RanksOf(b.capture));
  if (!IsImported(a.capture) && !IsImported(b.capture)) of_processes("operators", SourcesWord);
  if (!IsImported(a.capture) && !IsImported(b.capture)) {
    of_processes("allocator's settings", [](const ProcessSummary& process) {
      const std::string& settings = process.info.allocator_settings();
      return settings.empty() ? std::string("none recorded") : settings;
    });
  }
  const bool mapped_known = HasGpu(a.summary) && HasGpu(b.summary) && !IsSnapshot(a.capture) && !IsSnapshot(b.capture);
  if (mapped_known && a.held.maps_segments != b.held.maps_segments) {
    const auto word = [](bool mapped) { return mapped ? "expandable segments" : "no expandable segments"; };
    differences.Add("allocator", std::string(word(a.held.maps_segments)), std::string(word(b.held.maps_segments)));
  }
  differences.Add("lines", std::string(a.held.lines.empty() ? "not recorded" : "recorded"),
                  std::string(b.held.lines.empty() ? "not recorded" : "recorded"));
  if (a.summary.step_source == b.summary.step_source) differences.Add("steps", StepsOf(a.summary), StepsOf(b.summary));
  AddModels(a, b, names, differences);
  return differences.found;
}

}  // namespace memoir
