// Constants that are generated from proto/memoir/events.def: the columns of a run (ThreadRun in capture.proto), and the
// columns that each kind of event has. The recorder and the reader include this file, so that they need not include
// each other.
#ifndef PROTO_MEMOIR_RUN_SCHEMA_H_
#define PROTO_MEMOIR_RUN_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace memoir {

enum class RunColumn : std::uint8_t {
#define MEMOIR_COLUMN(Name, name, field, values, absence) k##Name,
#include "proto/memoir/events.def"
};

struct ColumnSchema {
  const char* name;     // name of the field in capture.proto
  std::uint32_t field;  // number of the field in ThreadRun
  std::uint8_t values;  // number of values of each event that has the column; 0: the event's signature determines it
  bool zeros_left_out;  // the column is empty if all of its values are 0
};

struct EventSchema {
  const char* name = nullptr;  // name of the EventKind in capture.proto
  std::uint8_t number = 0;
  std::uint64_t columns = 0;  // bit set of the columns, by RunColumn; without kTickDelta, which all events have

  constexpr bool Takes(RunColumn column) const { return (columns >> static_cast<unsigned>(column) & 1) != 0; }
};

namespace schema_internal {

// The values of `absence` in events.def, as ColumnSchema::zeros_left_out stores them.
inline constexpr bool Always = false, ZerosLeftOut = true;

#define MEMOIR_COLUMN(Name, name, field, values, absence) \
  inline constexpr std::uint64_t k##Name = std::uint64_t{1} << static_cast<unsigned>(RunColumn::k##Name);
#include "proto/memoir/events.def"

inline constexpr ColumnSchema kColumnRows[] = {
#define MEMOIR_COLUMN(Name, name, field, values, absence) {#name, field, values, absence},
#include "proto/memoir/events.def"
};

inline constexpr EventSchema kEventRows[] = {
#define MEMOIR_EVENT(Name, NAME, number, Record, variant, columns) {#NAME, number, columns},
#include "proto/memoir/events.def"
};

}  // namespace schema_internal

// The schemas of all columns, indexed by RunColumn.
inline constexpr auto& kRunColumns = schema_internal::kColumnRows;
inline constexpr std::size_t kRunColumnCount = std::size(kRunColumns);
static_assert(kRunColumnCount <= 64);
// The schemas of all kinds of events, in no particular order.
inline constexpr auto& kEventSchemas = schema_internal::kEventRows;

constexpr const ColumnSchema& SchemaOf(RunColumn column) { return kRunColumns[static_cast<std::size_t>(column)]; }

}  // namespace memoir

#endif  // PROTO_MEMOIR_RUN_SCHEMA_H_
