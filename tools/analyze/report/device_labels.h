// The labels and places of a report's blocks on one device, numbered in the order of their first blocks.
#ifndef TOOLS_ANALYZE_REPORT_DEVICE_LABELS_H_
#define TOOLS_ANALYZE_REPORT_DEVICE_LABELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/report/report_content.h"

namespace memoir {

class DeviceLabels {
 public:
  // `groupings`: in the order of kReportGroupings. The groupings must outlive this object.
  explicit DeviceLabels(const std::vector<const Grouping*>& groupings) : groupings_(groupings) {}

  // Returns the number of a group's label in the grouping at the index `grouping`. If the label is new, adds it to
  // `shown`. `before`: true if the block was allocated outside of the selection. In this case its label includes
  // kBeforeLabel.
  LabelNumber LabelOf(std::size_t grouping, Group group, bool before, const Capture& capture,
                      const Dictionary& dictionary, ReportDevice* shown);
  // Returns the index of the block's module and operator in ReportDevice::places. If this pair is new, adds it to
  // `shown`.
  std::uint32_t PlaceOf(const ReportBlock& block, ReportDevice* shown);

 private:
  const std::vector<const Grouping*>& groupings_;
  // By grouping. The keys of label_of_group_ are a group and `before`. The keys of label_of_key_ are Grouping::Key, or
  // the label if layers are merged: groups with the same key have the same label.
  std::array<absl::flat_hash_map<std::pair<Group, bool>, LabelNumber>, kReportGroupingCount> label_of_group_;
  std::array<absl::flat_hash_map<std::string, LabelNumber>, kReportGroupingCount> label_of_key_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> place_of_;  // by the labels of module and operator
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_DEVICE_LABELS_H_
