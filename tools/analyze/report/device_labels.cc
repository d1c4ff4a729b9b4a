#include "tools/analyze/report/device_labels.h"

#include <algorithm>
#include <iterator>

#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {
namespace {

std::size_t IndexOfGrouping(GroupBy by) {
  const auto found = std::ranges::find_if(
      kReportGroupings, [by](const ReportGrouping& grouping) { return grouping.by == by && !grouping.merges_layers; });
  return static_cast<std::size_t>(found - std::begin(kReportGroupings));
}

}  // namespace

LabelNumber DeviceLabels::LabelOf(std::size_t grouping, Group group, bool before, const Capture& capture,
                                  const Dictionary& dictionary, ReportDevice* shown) {
  const auto [known, added] = label_of_group_[grouping].try_emplace({group, before});
  if (!added) return known->second;
  const std::string then = before && group != kBeforeGroup ? std::string(" ") + kBeforeLabel : "";
  const Grouping& how = *groupings_[grouping];
  std::vector<std::string>& labels = shown->labels[grouping];
  const bool merges = kReportGroupings[grouping].merges_layers;
  std::string label = how.Label(group, capture, dictionary);
  if (merges) label = WithLayersMerged(label);
  label += then;
  const auto [same, is_new] = label_of_key_[grouping].try_emplace(
      merges ? label : how.Key(group, capture, dictionary) + then, static_cast<LabelNumber>(labels.size()));
  if (is_new) labels.push_back(std::move(label));
  if (is_new && kReportGroupings[grouping].by == GroupBy::kLine) shown->lines.push_back(how.LineOf(group, dictionary));
  return known->second = same->second;
}

std::uint32_t DeviceLabels::PlaceOf(const ReportBlock& block, ReportDevice* shown) {
  static const std::size_t kModule = IndexOfGrouping(GroupBy::kModule);
  static const std::size_t kOperator = IndexOfGrouping(GroupBy::kOperator);
  const LabelNumber module = block.labels[kModule], operator_label = block.labels[kOperator];
  std::vector<ReportPlace>& places = shown->places;
  const auto [known, added] =
      place_of_.try_emplace((std::uint64_t{module} << 32) | operator_label, static_cast<std::uint32_t>(places.size()));
  if (added) {
    places.emplace_back();
    places.back().module = module;
    places.back().operator_label = operator_label;
  }
  return known->second;
}

}  // namespace memoir
