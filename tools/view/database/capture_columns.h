// The tables that a capture is exported as, with their columns: the one definition for every format. What a column
// means is in docs/exports.md.
#ifndef TOOLS_VIEW_DATABASE_CAPTURE_COLUMNS_H_
#define TOOLS_VIEW_DATABASE_CAPTURE_COLUMNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memoir {

// Of the tables in Parquet files: raised where a table or a column is renamed, taken away or means something else. What
// is added leaves it as it is. python/memoir/queries/_data.py knows the same number.
inline constexpr unsigned kTablesVersion = 1;

enum class Table : std::uint8_t { kRanks, kModules, kSteps, kOperators, kBlocks, kEvents, kCalls, kSummary };
inline constexpr std::size_t kTables = 8;

enum class ColumnType : std::uint8_t {
  kKey,     // a number that names the row
  kNumber,  // below 2^63
  kWide,    // of all 64 bits: addresses, and what programs choose
  kText,    // UTF-8
};

// Of a key nothing is ever NULL, of all others every value may be.
struct Column {
  std::string_view name;
  ColumnType type;
};

struct TableDefinition {
  std::string_view name;
  std::span<const Column> columns;
};

const TableDefinition& DefinitionOf(Table table);

// Which of them are asked for.
class TableSet {
 public:
  static TableSet All() { return TableSet((1U << kTables) - 1); }
  static std::optional<TableSet> Parse(std::string_view names);  // "events,blocks"; none: one is not known, or is empty
  TableSet() = default;

  void Add(Table table) { bits_ |= Bit(table); }
  bool has(Table table) const { return (bits_ & Bit(table)) != 0; }
  std::size_t size() const;

 private:
  explicit TableSet(unsigned bits) : bits_(bits) {}
  static unsigned Bit(Table table) { return 1U << static_cast<unsigned>(table); }

  unsigned bits_ = 0;
};

std::string TableNames();  // "ranks, modules, ..."

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_CAPTURE_COLUMNS_H_
