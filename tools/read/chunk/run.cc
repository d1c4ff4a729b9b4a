#include "tools/read/chunk/run.h"

#include "memoir/v1/capture.pb.h"

namespace memoir {
namespace {

absl::Status Damaged(const char* what) { return absl::DataLossError(what); }

// Returns the column that a field of ThreadRun contains. nullptr for other fields.
PackedVarints* ColumnOf(Run& run, std::uint32_t field) {
  switch (field) {
#define MEMOIR_COLUMN(Name, name, field, values, absence) \
  case field:                                             \
    return &run.name;
#include "proto/memoir/events.def"
    default:
      return nullptr;
  }
}

}  // namespace

bool SetColumn(const WireField& field, PackedVarints* column) {
  if (field.type != WireType::kBytes || !column->empty()) return false;
  *column = PackedVarints(field.bytes);
  return true;
}

absl::Status ParseRun(std::string_view bytes, Run* run) {
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (PackedVarints* column = ColumnOf(*run, field.number)) {
      if (!SetColumn(field, column)) return Damaged("column of a run is not packed as one");
      continue;
    }
    switch (field.number) {
      case v1::ThreadRun::kThreadFieldNumber:
        run->thread = static_cast<std::uint32_t>(field.value);
        break;
      case v1::ThreadRun::kFirstRecordFieldNumber:
        run->first_record = field.value;
        break;
      case v1::ThreadRun::kRecordCountFieldNumber:
        run->record_count = field.value;
        break;
      case v1::ThreadRun::kRepeatedBeforeFieldNumber:
        run->repeated_before = field.value;
        break;
      case v1::ThreadRun::kStartDepthFieldNumber:
        run->start_depth = static_cast<std::uint32_t>(field.value);
        break;
      case v1::ThreadRun::kFirstTickFieldNumber:
        run->first_tick = field.value;
        break;
      case v1::ThreadRun::kStartStackFieldNumber:
        run->start_stack = static_cast<std::uint32_t>(field.value);
        break;
      case v1::ThreadRun::kKindFieldNumber:
        run->kind = field.bytes;
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return Damaged("run is damaged");
  if (run->kind.empty()) return Damaged("run holds no event");
  if (run->start_depth > (1u << 16)) return Damaged("run starts deeper than ranges can be nested");
  return absl::OkStatus();
}

}  // namespace memoir
