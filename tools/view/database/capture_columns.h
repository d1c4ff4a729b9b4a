// The tables of an exported capture and their columns, defined once for all formats. docs/exports.md describes the
// columns.
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

// The version of the tables in Parquet files. It is raised if a table or a column is renamed, removed or changes its
// meaning, but not for additions. The queries of the Python package contain the same number.
inline constexpr unsigned kTablesVersion = 1;

enum class CaptureTable : std::uint8_t { kRanks, kModules, kSteps, kOperators, kBlocks, kEvents, kCalls, kSummary };
inline constexpr std::size_t kTables = 8;

enum class ColumnType : std::uint8_t {
  kKey,     // a number that identifies the row
  kNumber,  // below 2^63
  kWide,    // uses all 64 bits: addresses, and values that programs choose
  kText,    // UTF-8
};

// A key is never NULL. Any other value may be NULL.
struct TableColumn {
  std::string_view name;
  ColumnType type;
};

struct TableDefinition {
  std::string_view name;
  std::span<const TableColumn> columns;
};

const TableDefinition& DefinitionOf(CaptureTable table);

// The tables that the user selected.
class TableSet {
 public:
  static TableSet All() { return TableSet((1U << kTables) - 1); }
  // Parses "events,blocks"; nullopt if a name is unknown or empty.
  static std::optional<TableSet> Parse(std::string_view names);
  TableSet() = default;

  void Add(CaptureTable table) { bits_ |= Bit(table); }
  bool has(CaptureTable table) const { return (bits_ & Bit(table)) != 0; }
  std::size_t size() const;

 private:
  explicit TableSet(unsigned bits) : bits_(bits) {}
  static unsigned Bit(CaptureTable table) { return 1U << static_cast<unsigned>(table); }

  unsigned bits_ = 0;
};

std::string TableNames();  // returns "ranks, modules, ..."

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_CAPTURE_COLUMNS_H_
