#include "tools/analyze/compare/recorded_otherwise.h"

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
#include "tools/analyze/pass/layer_pattern.h"
#include "tools/model/imported.h"
#include "tools/model/job.h"
#include "tools/model/snapshots.h"

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
  if (IsImported(capture)) return ImportedFrom(ImportOf(capture));
  return IsSnapshot(capture) ? "a snapshot" : "a recording";
}

// The most that a launcher numbered; "": nobody did.
std::string RanksOf(const Capture& capture) {
  std::uint32_t most = 0;
  for (const ProcessSummary& process : capture.processes()) most = std::max(most, process.info.world_size());
  return most == 0 ? "" : absl::StrCat(most);
}

std::string StepsOf(const Summary& summary) { return absl::StrCat(summary.steps); }

// A few of those that `others` has not, layers as one, and how many more: "second_head, layers.* and 5 more"; "": none.
std::string OnlyHere(const std::set<CommonModule>& modules, const std::set<CommonModule>& others) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named;
  std::set<std::string, std::less<>> said, patterns;
  for (const CommonModule& module : others) patterns.insert(WithLayersMerged(module.place()));
  for (const CommonModule& module : modules) {
    if (others.contains(module)) continue;
    std::string path = WithLayersMerged(module.place());
    // Of layers that both have, but not as many.
    if (patterns.contains(path)) path = module.place();
    // Of a module that only one has, those inside are no news.
    bool news = !said.contains(path);
    for (std::size_t dot = path.find('.'); news && dot != std::string::npos; dot = path.find('.', dot + 1))
      news = !said.contains(std::string_view(path).substr(0, dot));
    if (!news) continue;
    said.insert(path);
    named.push_back(path);
  }
  const std::size_t more = named.size() - std::min(named.size(), kNamed);
  named.resize(named.size() - more);
  return absl::StrCat(absl::StrJoin(named, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

class Differences {
 public:
  void Add(const std::string& what, const Words& a, const Words& b) {
    if (a != b) Add(what, absl::StrJoin(a, ", "), absl::StrJoin(b, ", "));
  }
  // "": not known, which is no difference.
  void Add(const std::string& what, const std::string& a, const std::string& b) {
    if (a != b && !a.empty() && !b.empty()) found.push_back({what, a, b});
  }
  std::vector<Unlike> found;
};

void AddModels(const RecordedSide& a, const RecordedSide& b, const ModuleNames& names, Differences& differences) {
  if (a.held.modules.empty() || b.held.modules.empty()) return;
  differences.Add("model", names.roots_of_a(), names.roots_of_b());
  std::set<CommonModule> of_a, of_b;
  for (const Module& module : a.held.modules) of_a.insert(names.OfA(module));
  for (const Module& module : b.held.modules) of_b.insert(names.OfB(module));
  const std::string only_a = OnlyHere(of_a, of_b), only_b = OnlyHere(of_b, of_a);
  if (!only_a.empty() || !only_b.empty()) differences.found.push_back({"modules", only_a, only_b});
}

std::string SourcesWord(const ProcessSummary& process) {
  const auto& sources = process.info.sources();
  return std::ranges::find(sources, "dispatch") == sources.end() ? "above autograd" : "below autograd (--ops dispatch)";
}

}  // namespace

std::vector<Unlike> RecordedOtherwise(const RecordedSide& a, const RecordedSide& b, const ModuleNames& names) {
  Differences differences;
  const auto of_processes = [&](const std::string& what, const WordOf& word_of) {
    differences.Add(what, OfProcesses(a.capture, word_of), OfProcesses(b.capture, word_of));
  };
  differences.Add("file", KindOf(a.capture), KindOf(b.capture));
  // Of what was imported that is the file's name.
  if (!IsImported(a.capture) && !IsImported(b.capture))
    of_processes("program", [](const ProcessSummary& process) { return process.info.program(); });
  of_processes("torch", [](const ProcessSummary& process) { return process.info.torch_version(); });
  of_processes("python", [](const ProcessSummary& process) { return process.info.python_version(); });
  const Words cards_a = Cards(a.summary), cards_b = Cards(b.summary);
  differences.Add("card", cards_a.empty() ? Words{"no GPU"} : cards_a, cards_b.empty() ? Words{"no GPU"} : cards_b);
  // Simulated ones have no product's name.
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
