#include "tools/analyze/categories/operator_saves.h"

#include <charconv>
#include <cstddef>

#include "absl/container/flat_hash_map.h"

namespace memoir {
namespace {

struct OperatorRow {
  std::string_view name, saves;
};
constexpr OperatorRow kRows[] = {
#define MEMOIR_SAVES(name, saves) {name, saves},
#include "tools/analyze/categories/saved_by_operators.def"
#undef MEMOIR_SAVES
};

std::uint8_t Position(std::string_view digits) {
  std::uint8_t position = OperatorSaves::kAlways;
  std::from_chars(digits.data(), digits.data() + digits.size(), position);
  return position;
}

void Add(std::string_view saved, OperatorSaves& all) {
  if (saved == "n") {
    all.makes_none = true;
  } else if (saved == "v") {
    all.is_view = true;
  } else if (saved.starts_with('r')) {
    all.results.push_back(Position(saved.substr(1)));
  } else {
    const std::size_t condition = saved.find('?');
    const std::string_view wanted_by = condition == saved.npos ? "" : saved.substr(condition + 1);
    all.arguments.push_back({Position(saved.substr(0, condition)), Position(wanted_by)});
  }
}

absl::flat_hash_map<std::string_view, OperatorSaves> ReadRows() {
  absl::flat_hash_map<std::string_view, OperatorSaves> table;
  for (const OperatorRow& row : kRows) {
    OperatorSaves& all = table[row.name];
    for (std::string_view rest = row.saves; !rest.empty();) {
      const std::size_t end = rest.find(' ');
      Add(rest.substr(0, end), all);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }
  return table;
}

}  // namespace

const OperatorSaves* SavesOf(std::string_view operator_name) {
  static const absl::flat_hash_map<std::string_view, OperatorSaves>& table =
      *new absl::flat_hash_map<std::string_view, OperatorSaves>(ReadRows());
  constexpr std::string_view kNamespace = "aten::";
  if (!operator_name.starts_with(kNamespace)) return nullptr;
  const auto found = table.find(operator_name.substr(kNamespace.size()));
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace memoir
