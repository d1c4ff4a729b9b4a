// The destination of the rows of a capture's tables: a database, Arrow, Parquet.
//
// After the first error all calls do nothing, so callers need not check each row.
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

// NULL, a number, or a UTF-8 text, which the sink copies.
using CellValue = std::variant<std::monostate, std::uint64_t, std::string_view>;
template <class Number>
CellValue OptionalValue(const std::optional<Number>& number) {
  return number ? CellValue(static_cast<std::uint64_t>(*number)) : CellValue();
}
// Returns NULL for an empty text.
inline CellValue TextValue(std::string_view text) { return text.empty() ? CellValue() : CellValue(text); }

struct TableSink {
  TableSet wanted;  // rows of other tables are not inserted
  std::function<void(CaptureTable, std::span<const CellValue>)> insert;
  std::function<bool()> ok;  // false: further rows have no effect
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_TABLE_SINK_H_
