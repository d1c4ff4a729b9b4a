// Where rows of a capture's tables go: a database, Arrow, Parquet.
//
// The first error stays, and everything after it does nothing, so that who fills tables need not look at each row.
#ifndef TOOLS_VIEW_DATABASE_TABLE_SINK_H_
#define TOOLS_VIEW_DATABASE_TABLE_SINK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "tools/view/database/capture_columns.h"

namespace memoir {

// NULL, a number, or a text in UTF-8, which is copied.
using CellValue = std::variant<std::monostate, std::uint64_t, std::string_view>;
template <class Number>
CellValue OptionalValue(const std::optional<Number>& number) {
  return number ? CellValue(static_cast<std::uint64_t>(*number)) : CellValue();
}
// NULL of an empty text.
inline CellValue TextValue(std::string_view text) { return text.empty() ? CellValue() : CellValue(text); }

struct TableSink {
  TableSet wanted;  // rows of others are not inserted
  std::function<void(Table, std::span<const CellValue>)> insert;
  std::function<bool()> ok;  // false: what comes is in vain
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_TABLE_SINK_H_
