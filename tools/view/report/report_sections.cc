#include "tools/view/report/report_sections.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/json/json.h"

namespace memoir {
namespace {

// Returns one column of a list of structs.
template <class Row, class Get>
std::vector<std::uint64_t> Column(const std::vector<Row>& rows, Get get) {
  std::vector<std::uint64_t> column;
  column.reserve(rows.size());
  for (const Row& row : rows) column.push_back(static_cast<std::uint64_t>(std::invoke(get, row)));
  return column;
}

std::string CurveBytes(const ReportDevice& device) {
  ColumnWriter columns;
  columns.Number(device.allocated.most.size());
  columns.Differences(device.allocated.most);
  columns.Differences(device.allocated.most_ns);
  columns.Number(device.caching ? 1 : 0);
  if (!device.caching) return columns.bytes();
  columns.Differences(device.active);
  columns.Differences(device.reserved);
  return columns.bytes();
}

using Changes = std::vector<std::vector<ReportCurve::Change>>;

std::vector<LabelNumber> LargestLabels(const Changes& changes, std::size_t labels) {
  std::vector<std::uint64_t> most(labels);
  for (const auto& bucket : changes) {
    for (const ReportCurve::Change& change : bucket) most[change.label] = std::max(most[change.label], change.bytes);
  }
  std::vector<LabelNumber> largest;
  for (LabelNumber i = 0; i < labels; ++i) {
    if (most[i] > 0) largest.push_back(i);
  }
  std::ranges::stable_sort(largest, std::greater<>(), [&](LabelNumber label) { return most[label]; });
  if (largest.size() > kMostStackedLabels) largest.resize(kMostStackedLabels);
  return largest;
}

std::string StackBytes(const Changes& changes, std::size_t labels) {
  const std::vector<LabelNumber> largest = LargestLabels(changes, labels);
  std::vector<std::size_t> place(labels, largest.size());
  for (std::size_t i = 0; i < largest.size(); ++i) place[largest[i]] = i;
  std::vector<std::vector<std::uint64_t>> curves(largest.size(), std::vector<std::uint64_t>(changes.size()));
  std::vector<std::uint64_t> now(largest.size() + 1);
  for (std::size_t bucket = 0; bucket < changes.size(); ++bucket) {
    for (const ReportCurve::Change& change : changes[bucket]) now[place[change.label]] = change.bytes;
    for (std::size_t i = 0; i < largest.size(); ++i) curves[i][bucket] = now[i];
  }
  ColumnWriter columns;
  columns.Number(largest.size());
  for (std::size_t i = 0; i < largest.size(); ++i) {
    columns.Number(largest[i]);
    columns.Differences(curves[i]);
  }
  return columns.bytes();
}

std::string BlockBytes(const ReportDevice& device) {
  const std::vector<ReportBlock>& blocks = device.blocks;
  ColumnWriter columns;
  columns.Number(blocks.size());
  columns.Differences(Column(blocks, &ReportBlock::begin_ns));
  for (const ReportBlock& block : blocks)
    columns.Number(block.end_ns == ReportBlock::kLive ? 0 : block.end_ns - std::min(block.end_ns, block.begin_ns) + 1);
  columns.Repeated(Column(blocks, &ReportBlock::bytes));
  columns.Repeated(Column(blocks, &ReportBlock::address));
  columns.Repeated(Column(blocks, &ReportBlock::from_before));
  for (std::size_t i = 0; i < kReportGroupingCount; ++i)
    columns.Repeated(Column(blocks, [i](const ReportBlock& block) { return block.labels[i]; }));
  columns.Repeated(Column(blocks, &ReportBlock::path));
  columns.Repeated(Column(blocks, &ReportBlock::caller));
  return columns.bytes();
}

template <class Row>
void AddBytes(const std::vector<Row>& rows, ColumnWriter& columns) {
  for (const auto member : {&ReportSums::allocated_bytes, &ReportSums::temporary_bytes, &ReportSums::bytes_at_peak,
                            &ReportSums::net_bytes}) {
    for (const Row& row : rows) columns.Number(row.*member);
  }
}

std::string PathBytes(const std::vector<ReportPath>& paths) {
  ColumnWriter columns;
  columns.Number(paths.size());
  columns.Differences(Column(paths, &ReportPath::parent));
  columns.Repeated(Column(paths, &ReportPath::name));
  columns.Repeated(Column(paths, &ReportPath::source));
  AddBytes(paths, columns);
  return columns.bytes();
}

std::string PlaceBytes(const std::vector<ReportPlace>& places) {
  ColumnWriter columns;
  columns.Number(places.size());
  columns.Differences(Column(places, &ReportPlace::module));
  columns.Differences(Column(places, &ReportPlace::operator_label));
  AddBytes(places, columns);
  return columns.bytes();
}

std::string CallerBytes(const std::vector<ReportCaller>& callers) {
  ColumnWriter columns;
  columns.Number(callers.size());
  columns.Differences(Column(callers, &ReportCaller::parent));
  columns.Repeated(Column(callers, &ReportCaller::frame));
  columns.Repeated(Column(callers, &ReportCaller::kind));
  AddBytes(callers, columns);
  return columns.bytes();
}

std::string SegmentBytes(const std::vector<ReportSegmentChange>& segments) {
  ColumnWriter columns;
  columns.Number(segments.size());
  columns.Differences(Column(segments, &ReportSegmentChange::ns));
  columns.Repeated(Column(segments, &ReportSegmentChange::grows));
  columns.Repeated(Column(segments, &ReportSegmentChange::mapped));
  columns.Repeated(Column(segments, &ReportSegmentChange::small));
  columns.Repeated(Column(segments, &ReportSegmentChange::address));
  columns.Repeated(Column(segments, &ReportSegmentChange::bytes));
  columns.Repeated(Column(segments, &ReportSegmentChange::stream));
  columns.Repeated(Column(segments, &ReportSegmentChange::pool_graph));
  columns.Repeated(Column(segments, &ReportSegmentChange::pool_user));
  return columns.bytes();
}

std::string OtherBytes(const std::vector<ReportOmittedBlock>& others) {
  ColumnWriter columns;
  columns.Number(others.size());
  columns.Differences(Column(others, &ReportOmittedBlock::begin_ns));
  for (const ReportOmittedBlock& block : others)
    columns.Number(block.end_ns == ReportBlock::kLive ? 0 : block.end_ns - std::min(block.end_ns, block.begin_ns) + 1);
  columns.Repeated(Column(others, &ReportOmittedBlock::bytes));
  columns.Repeated(Column(others, &ReportOmittedBlock::address));
  return columns.bytes();
}

// Returns the labels of all groupings and the names of callers, with short file names. The text is JSON, because labels
// may contain any Unicode.
std::string LabelText(const ReportDevice& device) {
  std::vector<std::string_view> files;
  for (const SourceLine& line : device.lines) files.push_back(line.file);
  for (const SourceLine& frame : device.frames) files.push_back(frame.file);
  const ShownFiles shown(files);
  Json json = Json::object();
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    Json& labels = json[std::string(WordOf(kReportGroupings[i]))] = device.labels[i];
    if (kReportGroupings[i].by != GroupBy::kLine) continue;
    for (std::size_t label = 0; label < device.lines.size(); ++label) {
      const bool before = device.labels[i][label].ends_with(kBeforeLabel);
      if (device.lines[label].known())
        labels[label] = shown.LineText(device.lines[label]) + (before ? std::string(" ") + kBeforeLabel : "");
    }
  }
  json["frames"] = Json::array();
  for (const SourceLine& frame : device.frames) json["frames"].push_back(shown.LineText(frame));
  return ToText(json);
}

// Returns the device of the report `of` with the name and rank of `device`, which belongs to the report `own`. If each
// report has only one device of that name, their ranks may differ. nullptr if there is no such device.
const ReportDevice* SameDevice(const ReportDevice& device, const ReportContent& own, const ReportContent& of) {
  std::vector<const ReportDevice*> named, same;
  for (const ReportDevice& other : of.devices) {
    if (other.name != device.name) continue;
    named.push_back(&other);
    if (other.rank == device.rank) same.push_back(&other);
  }
  const auto own_named = std::ranges::count(own.devices, device.name, &ReportDevice::name);
  if (own_named == 1 && named.size() == 1) return named.front();
  return device.rank && same.size() == 1 ? same.front() : nullptr;
}

// Returns {"peak": bytes, "category": {name: bytes, ...}, "parameter": {...}}: bytes at the peak of the device. Rows of
// modules and operators are in the section of places.
std::string BytesAtPeak(const ReportDevice& device, const ReportContent& report) {
  Json json = {{"peak", 0}, {"category", Json::object()}, {"parameter", Json::object()}};
  for (const Summary& summary : report.summaries) {
    const auto same = std::ranges::find_if(summary.devices, [&](const DeviceRow& row) {
      return row.name == device.name && row.process == device.process;
    });
    if (same == summary.devices.end()) continue;
    const auto index = static_cast<std::size_t>(same - summary.devices.begin());
    json["peak"] = same->peak_allocated_bytes;
    if (summary.by != GroupBy::kCategory && summary.by != GroupBy::kParameter) continue;
    Json& rows = json[std::string(GroupingFactsOf(summary.by).word)];
    for (const SummaryRow& row : summary.rows) {
      const std::uint64_t bytes = row.by_device[index].bytes_at_peak;
      if (bytes > 0) rows[row.name] = rows.value(row.name, std::uint64_t{0}) + bytes;
    }
  }
  return ToText(json);
}

}  // namespace

std::string_view WordOf(const ReportGrouping& grouping) {
  return grouping.merges_layers ? "layers" : GroupingFactsOf(grouping.by).word;
}

std::vector<ReportSection> BeforeSections(const ReportContent& report, const ReportContent& before,
                                          std::vector<std::size_t>* devices) {
  std::vector<ReportSection> sections;
  for (std::size_t number = 0; number < report.devices.size(); ++number) {
    const ReportDevice* const device = SameDevice(report.devices[number], report, before);
    if (device == nullptr) continue;
    devices->push_back(number);
    sections.push_back(MakeSection(fmt::format("before-labels{}", number), LabelText(*device)));
    sections.push_back(MakeSection(fmt::format("before-places{}", number), PlaceBytes(device->places)));
    sections.push_back(MakeSection(fmt::format("before-callers{}", number), CallerBytes(device->callers)));
    sections.push_back(MakeSection(fmt::format("before-peak{}", number), BytesAtPeak(*device, before)));
  }
  return sections;
}

std::vector<ReportSection> ReportSections(const ReportContent& report) {
  std::vector<ReportSection> sections;
  for (std::size_t number = 0; number < report.devices.size(); ++number) {
    const ReportDevice& device = report.devices[number];
    const auto add = [&](std::string_view name, const std::string& bytes) {
      sections.push_back(MakeSection(fmt::format("{}{}", name, number), bytes));
    };
    add("curve", CurveBytes(device));
    add("labels", LabelText(device));
    for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
      if (!kReportGroupings[i].stacked) continue;
      const std::string bytes = StackBytes(device.allocated.changes[i], device.labels[i].size());
      sections.push_back(MakeSection(fmt::format("stack{}.{}", number, WordOf(kReportGroupings[i])), bytes));
    }
    add("blocks", BlockBytes(device));
    add("paths", PathBytes(device.paths));
    add("places", PlaceBytes(device.places));
    add("callers", CallerBytes(device.callers));
    add("segments", SegmentBytes(device.segments));
    if (!device.others.empty()) add("others", OtherBytes(device.others));
  }
  return sections;
}

}  // namespace memoir
