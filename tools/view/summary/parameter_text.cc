#include "tools/view/summary/parameter_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture/device_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

struct Cost {
  std::string name;
  std::uint64_t parameter = 0, buffer = 0, gradient = 0, state = 0;
  std::uint64_t together() const { return parameter + buffer + gradient + state; }

  Cost& operator+=(const Cost& other) {
    parameter += other.parameter;
    buffer += other.buffer;
    gradient += other.gradient;
    state += other.state;
    return *this;
  }
};

Cost CostOf(const SummaryRow& row, const std::string& name) {
  const auto part = [&](ParameterPart which) {
    return row.parameter.by_part[static_cast<std::size_t>(which)].bytes_at_peak;
  };
  Cost cost{name};
  (row.parameter.is_buffer ? cost.buffer : cost.parameter) = part(ParameterPart::kItself);
  cost.gradient = part(ParameterPart::kGradient);
  cost.state = part(ParameterPart::kState);
  return cost;
}

std::string Cell(std::uint64_t bytes) { return bytes == 0 ? "" : FormatBytes(bytes); }

// A column of the table. Columns without any value are left out, so that names have more room.
struct CostPart {
  const char* title;
  std::uint64_t Cost::* bytes;
};
std::vector<CostPart> PartsOf(const Cost& total) {
  std::vector<CostPart> parts = {{"itself", &Cost::parameter},
                                 {"buffer", &Cost::buffer},
                                 {"gradient", &Cost::gradient},
                                 {"optimizer state", &Cost::state}};
  std::erase_if(parts, [&](const CostPart& part) { return total.*part.bytes == 0; });
  return parts;
}

// `together`: the sum that the last two columns contain, as bytes and as a share of `all`.
std::vector<std::string> Cells(const Cost& cost, const std::vector<CostPart>& parts, std::uint64_t together,
                               std::uint64_t all) {
  std::vector<std::string> cells = {cost.name};
  for (const CostPart& part : parts) cells.push_back(Cell(cost.*part.bytes));
  cells.push_back(FormatBytes(together));
  cells.push_back(FormatShare(together, all));
  return cells;
}

}  // namespace

std::string RenderParameters(const Summary& summary, std::size_t top, const Terminal& terminal) {
  std::map<std::string, int> alike;  // models of the same kind have parameters of the same names
  for (const SummaryRow& row : summary.rows) alike[row.name] += row.kind == SummaryRow::Kind::kNamed ? 1 : 0;
  std::vector<Cost> costs;
  std::uint64_t others = 0;
  for (const SummaryRow& row : summary.rows) {
    if (row.kind != SummaryRow::Kind::kNamed) {
      others += row.total.bytes_at_peak;
      continue;
    }
    const std::string of_root = alike[row.name] > 1 ? " of " + ShownName(row.parameter.root) : "";
    const Cost cost = CostOf(row, ShownName(row.name) + of_root);
    if (cost.together() > 0) costs.push_back(cost);
  }
  std::ranges::stable_sort(costs, [](const Cost& a, const Cost& b) { return a.together() > b.together(); });
  Cost total{"total"};
  for (const Cost& cost : costs) total += cost;
  const std::uint64_t all = total.together() + others;
  if (top != 0 && costs.size() > top + 1) {
    Cost rest{fmt::format("other ({} parameters)", FormatCount(costs.size() - top))};
    for (const Cost& cost : std::span(costs).subspan(top)) rest += cost;
    costs.resize(top);
    costs.push_back(std::move(rest));
  }
  const std::vector<CostPart> parts = PartsOf(total);
  std::vector<std::string> titles = {"parameter"};
  for (const CostPart& part : parts) titles.emplace_back(part.title);
  titles.insert(titles.end(), {"together", "of the peak"});
  TextTable table(std::move(titles));
  for (const Cost& cost : costs) table.AddRow(Cells(cost, parts, cost.together(), all));
  table.AddRow(Cells(Cost{"(of no parameter)"}, parts, others, all));
  table.AddTotal(Cells(total, parts, all, all));
  return Painted(terminal, Color::kBold, "Memory of parameters at the peak" + SelectedDevicesText(summary)) + "\n" +
         table.Render(terminal, 2);
}

}  // namespace memoir
