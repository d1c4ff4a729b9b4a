#include "tools/view/report/report_facts.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/view/accounting/balance_view.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/lives/leak_view.h"
#include "tools/view/oom/cause_text.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/oom/remedy_text.h"
#include "tools/view/oom/requester_text.h"
#include "tools/view/report/report_sections.h"
#include "tools/view/segments/fragmentation_view.h"
#include "tools/view/summary/summary_json.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr Terminal kPage{.width = 110};          // width of text on the page
constexpr Terminal kUnbroken{.width = 1 << 30};  // for paragraphs, which the browser wraps
constexpr std::size_t kTop = 5;

using Answer = ReportFinding::Answer;

const char* AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kFine:
      return "fine";
    case Answer::kWorthALook:
      return "worth a look";
    case Answer::kHarmed:
      return "harmed";
    case Answer::kNotKnown:
      return "not known";
  }
  return "not known";
}

ReportFinding FindingOf(const std::string& check, const std::string& path) {
  ReportFinding finding;
  finding.check = check;
  finding.command = "memoir check " + check + " " + path;
  return finding;
}

ReportFinding Failed(ReportFinding finding, const absl::Status& status) {
  finding.answer = Answer::kNotKnown;
  finding.headline = "not known: " + std::string(status.message());
  return finding;
}

ReportFinding OutOfMemoryFinding(const Capture& capture, const Summary& summary, const std::string& path) {
  ReportFinding finding = FindingOf("oom", path);
  const std::uint64_t count = CountOutOfMemory(summary);
  if (count == 0) {
    const bool is_known = WhyOutOfMemoryIsNotKnown(capture, summary.report).empty();
    finding.answer = is_known ? Answer::kFine : Answer::kNotKnown;
    finding.headline = NoOutOfMemoryKnown(capture, summary.report);
    return finding;
  }
  finding.answer = Answer::kHarmed;
  for (const OutOfMemory& error : summary.out_of_memory) finding.devices.push_back({error.device, error.process});
  finding.headline = FormatCounted(count, "out-of-memory error", "out-of-memory errors");
  finding.text = RenderOutOfMemoryErrors(capture, summary, kTop, kPage);
  return finding;
}

// Returns true if the allocator could not serve a request without help, or the device was nearly full.
bool WasShort(const DeviceRow& device) {
  constexpr std::uint64_t kLeastFreeShare = 10;  // a tenth of the device
  return device.num_ooms > 0 || device.num_alloc_retries.value_or(0) > 0 ||
         (device.least_free && *device.least_free < device.total_bytes / kLeastFreeShare);
}

ReportFinding FragmentationFinding(const Capture& capture, const Summary& summary,
                                   const absl::StatusOr<Fragmentation>& fragmentation, const std::string& path) {
  ReportFinding finding = FindingOf("frag", path);
  if (!fragmentation.ok()) return Failed(std::move(finding), fragmentation.status());
  finding.headline = FragmentationLine(capture, *fragmentation);
  if (HasFragmentedDevice(*fragmentation)) {
    finding.answer = Answer::kWorthALook;
    for (const FragmentedDevice& device : fragmentation->devices) {
      if (!IsFragmented(device.peak)) continue;
      finding.devices.push_back({device.name, device.process});
      const auto row = std::ranges::find_if(summary.devices, [&](const DeviceRow& one) {
        return one.name == device.name && one.process == device.process;
      });
      if (row != summary.devices.end() && WasShort(*row)) finding.answer = Answer::kHarmed;
    }
    finding.text = RenderFragmentation(capture, *fragmentation, kTop, kPage);
  } else if (!IsFragmentationKnown(capture, *fragmentation)) {
    finding.answer = Answer::kNotKnown;
  }
  return finding;
}

ReportFinding BalanceFinding(const Capture& capture, const absl::StatusOr<Balance>& balance, const std::string& path) {
  ReportFinding finding = FindingOf("balance", path);
  if (!balance.ok()) return Failed(std::move(finding), balance.status());
  finding.headline = BalanceLine(capture, *balance);
  const std::vector<DeviceBalance>& devices = balance->devices;
  const auto is_known = [](const DeviceBalance& device) { return device.used && device.unexplained; };
  const bool has_gpu = !devices.empty() || !CudaMemoryNotKnown(balance->report).empty();
  for (const DeviceBalance& device : devices) {
    if (device.IsFinding()) finding.devices.push_back({device.name, device.process});
  }
  if (!finding.devices.empty()) {
    finding.answer = Answer::kWorthALook;
    finding.text = RenderBalance(capture, *balance, {.instant = "its sample with the most used memory"}, kPage);
  } else if (has_gpu && std::ranges::none_of(devices, is_known)) {
    finding.answer = Answer::kNotKnown;
  }
  return finding;
}

ReportFinding LeakFinding(const Capture& capture, const Leaks& leaks, const std::string& path) {
  ReportFinding finding = FindingOf("leaks", path);
  finding.headline = LeakHeadline(leaks);
  if (!leaks.leaks.empty()) {
    finding.answer = Answer::kHarmed;
    for (const Leak& leak : leaks.leaks) finding.devices.push_back({leak.device, leak.process});
    const std::vector<LeakGroup> groups = GroupsOf(leaks);
    finding.headline = LeakText(capture, groups.front());
    if (groups.size() > 1) finding.headline += fmt::format("; {} more", groups.size() - 1);
    finding.text = RenderLeaks(capture, leaks, {.looked = true, .all = {}}, kTop, path, kPage);
  } else if (!AreLeaksKnown(leaks)) {
    finding.answer = Answer::kNotKnown;
  }
  return finding;
}

const char* InstantName(ReportInstant::Kind kind) {
  switch (kind) {
    case ReportInstant::Kind::kPeak:
      return "peak";
    case ReportInstant::Kind::kMark:
      return "mark";
    case ReportInstant::Kind::kOutOfMemory:
      return "oom";
    case ReportInstant::Kind::kRegular:
      return "regular";
    case ReportInstant::Kind::kEnd:
      return "end";
  }
  return "regular";
}

Json DeviceJson(const ReportDevice& device) {
  Json json = {{"device", device.name},
               {"process", device.process.value},
               {"rank", RankJson(device.rank)},
               {"caching", device.caching},
               {"begin_ns", device.begin_ns},
               {"end_ns", device.end_ns},
               {"all_blocks", device.all_blocks},
               {"kept_blocks", device.blocks.size()},
               {"complete", device.complete},
               {"all_segments", device.all_segments},
               {"all_others", device.all_others},
               {"all_marks", device.all_marks},
               {"all_out_of_memory", device.all_out_of_memory}};
  json["instants"] = Json::array();
  for (const ReportInstant& instant : device.instants) {
    json["instants"].push_back({{"kind", InstantName(instant.kind)},
                                {"name", instant.name},
                                {"time_ns", instant.ns},
                                {"bytes", instant.bytes},
                                {"blocks", instant.blocks}});
  }
  return json;
}

Json ProcessJson(const ReportProcess& process) {
  Json json = {{"process", process.process.value},
               {"step_kind", ToString(process.steps.source)},
               {"first_step", process.steps.first},
               {"all_steps", process.steps.count},
               {"all_iterations", process.all_iterations}};
  json["steps_ns"] = process.steps.ns;
  json["iterations"] = Json::array();
  for (const Iteration& iteration : process.iterations) {
    Json markers = Json::object();
    for (const auto& [name, moment] : MarkersOf(iteration)) markers[std::string(name)] = moment.ns;
    if (iteration.optimizer_end) markers["optimizer_end"] = iteration.optimizer_end->ns;
    json["iterations"].push_back(std::move(markers));
  }
  return json;
}

// Returns true if any block has a known line. Memory from before the recording may have known lines, but has no known
// callers.
bool HasLines(const ReportDevice& device) {
  return !device.frames.empty() || std::ranges::any_of(device.lines, &SourceLine::known);
}

Json GroupingsJson() {
  Json json = Json::array();
  for (const ReportGrouping& grouping : kReportGroupings) {
    const GroupingFacts& facts = GroupingFactsOf(grouping.by);
    json.push_back({{"word", WordOf(grouping)},
                    {"one", grouping.merges_layers ? "module, layers merged" : facts.one},
                    {"many", facts.many},
                    {"stacked", grouping.stacked}});
  }
  return json;
}

// Returns the place, the cause and the remedies of each error of `summary.out_of_memory` as text, in the same order.
Json OutOfMemoryWords(const Summary& summary) {
  Json json = Json::array();
  for (const OutOfMemory& error : summary.out_of_memory) {
    Json remedies = Json::array();
    for (const Remedy& remedy : RemediesOf(error, summary))
      remedies.push_back({{"text", remedy.text}, {"bytes", remedy.bytes ? Json(*remedy.bytes) : Json(nullptr)}});
    json.push_back({{"place", RequestPlaceText(error)},
                    {"line", error.line.known() ? RequesterText(error) : ""},
                    {"cause", OutOfMemoryCauseText(error, kTop)},
                    {"of_host", error.refusal && error.refusal->of_host},
                    {"remedies", std::move(remedies)}});
  }
  return json;
}

// Returns the names of each category in Memoir and in torch. The page chooses its colours by these names.
Json CategoriesJson() {
  Json json = Json::object();
  for (std::size_t rule = 0; rule < Rules().size(); ++rule)
    json[LabelOfCategory(CategoryOf(static_cast<RuleNumber>(rule)))] = {
        {"category", NameOf(Rules()[rule].kept)},
        {"detail", Rules()[CategoryOf(static_cast<RuleNumber>(rule))].detail}};
  return json;
}

}  // namespace

std::vector<ReportFinding> FindingsOf(const Capture& capture, const ReportContent& report,
                                      const absl::StatusOr<Fragmentation>& fragmentation,
                                      const absl::StatusOr<Balance>& balance, const std::string& path,
                                      const std::string& leaks_path) {
  return {OutOfMemoryFinding(capture, report.summaries.front(), path),
          FragmentationFinding(capture, report.summaries.front(), fragmentation, path),
          BalanceFinding(capture, balance, path), LeakFinding(capture, report.leaks, leaks_path)};
}

Json ReportFacts(const Capture& capture, const ReportContent& report, const std::vector<ReportFinding>& findings,
                 const std::string& path, const ReportPart& part) {
  const Summary& summary = report.summaries.front();
  const Losses losses = LossesOf(capture, summary.report, kUnbroken);
  Json json = {{"format", 1}, {"path", path}, {"what_ran", RenderProgram(capture, kPage)}};
  json["part"] = PartJson(part);
  json["losses"] = {{"notes", losses.notes + losses.closing}, {"lines", losses.lines}, {"is_lossy", losses.is_lossy}};
  json["summary"] = SummaryJson(capture, summary, 0);
  json["out_of_memory_words"] = OutOfMemoryWords(summary);
  json["groupings"] = GroupingsJson();
  json["categories"] = CategoriesJson();
  json["names"] = report.names;
  json["has_callers"] =
      std::ranges::any_of(report.devices, [](const ReportDevice& device) { return !device.frames.empty(); });
  json["has_lines"] = std::ranges::any_of(report.devices, HasLines);
  json["devices"] = Json::array();
  for (const ReportDevice& device : report.devices) json["devices"].push_back(DeviceJson(device));
  json["processes"] = Json::array();
  for (const ReportProcess& process : report.processes) json["processes"].push_back(ProcessJson(process));
  json["findings"] = Json::array();
  for (const ReportFinding& finding : findings) {
    Json devices = Json::array();
    for (const ReportFinding::Device& device : finding.devices)
      devices.push_back({{"device", device.name}, {"process", device.process.value}});
    json["findings"].push_back({{"check", finding.check},
                                {"devices", std::move(devices)},
                                {"answer", AnswerName(finding.answer)},
                                {"headline", finding.headline},
                                {"text", finding.text},
                                {"command", finding.command}});
  }
  return json;
}

Json ReportTables(const Capture& capture, const ReportContent& report) {
  Json json = Json::object();
  for (const Summary& summary : report.summaries) {
    Summary shown = summary;
    if (shown.by == GroupBy::kLine) ShortenFiles(shown.rows);
    json[std::string(GroupingFactsOf(summary.by).word)] =
        SummaryJson(capture, shown, 0)[GroupingFactsOf(summary.by).json_key];
  }
  return json;
}

}  // namespace memoir
