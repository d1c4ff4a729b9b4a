// The columns of a ThreadRun and who has values in them, as constants: what proto/memoir/events.def says, for the
// recorder and for the reader. Nothing but constants, so that neither depends on the other.
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
  const char* name;     // in capture.proto
  std::uint32_t field;  // number in ThreadRun
  std::uint8_t values;  // of each event that takes it; 0: as its signature says
  bool zeros_left_out;  // empty where all of its values are 0
};

struct EventSchema {
  const char* name = nullptr;  // in capture.proto
  std::uint8_t number = 0;
  std::uint64_t columns = 0;  // bits by RunColumn, besides kTickDelta

  constexpr bool Takes(RunColumn column) const { return (columns >> static_cast<unsigned>(column) & 1) != 0; }
};

namespace schema_internal {

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

// By RunColumn.
inline constexpr auto& kRunColumns = schema_internal::kColumnRows;
inline constexpr std::size_t kRunColumnCount = std::size(kRunColumns);
static_assert(kRunColumnCount <= 64);
// In no order.
inline constexpr auto& kEventSchemas = schema_internal::kEventRows;

constexpr const ColumnSchema& SchemaOf(RunColumn column) { return kRunColumns[static_cast<std::size_t>(column)]; }

}  // namespace memoir

#endif  // PROTO_MEMOIR_RUN_SCHEMA_H_
