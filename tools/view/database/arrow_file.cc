#include "tools/view/database/arrow_file.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "nanoarrow/nanoarrow.h"
#include "nanoarrow/nanoarrow_ipc.h"

namespace memoir {
namespace {

ArrowType ArrowTypeOf(ColumnType type) {
  switch (type) {
    case ColumnType::kKey:
    case ColumnType::kNumber:
      return NANOARROW_TYPE_INT64;
    case ColumnType::kWide:
      return NANOARROW_TYPE_UINT64;
    case ColumnType::kText:
      return NANOARROW_TYPE_STRING;
  }
  return NANOARROW_TYPE_STRING;
}

int Append(ArrowArray* array, ColumnType type, const CellValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value))
    return type == ColumnType::kWide ? ArrowArrayAppendUInt(array, *number)
                                     : ArrowArrayAppendInt(array, static_cast<std::int64_t>(*number));
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return ArrowArrayAppendNull(array, 1);
  return ArrowArrayAppendString(array, {text->data(), static_cast<std::int64_t>(text->size())});
}

// Clears the bits after the last of `rows` in the column's bitmap of valid rows. nanoarrow does not initialize these
// bits, and must not write old contents of memory into a file.
void ClearBitsAfter(std::int64_t rows, ArrowArray* column) {
  const ArrowBuffer& bits = ArrowArrayValidityBitmap(column)->buffer;
  if (bits.size_bytes > rows / 8 && rows % 8 != 0)
    bits.data[rows / 8] &= static_cast<std::uint8_t>((1u << (rows % 8)) - 1);
}

}  // namespace

struct ArrowFile::State {
  std::span<const TableColumn> columns;
  Form form;
  std::function<bool(std::string_view)> write;
  ArrowSchema schema{};
  ArrowArray batch{};
  ArrowArrayView view{};
  ArrowIpcWriter writer{};
  ArrowError error{};
  std::int64_t rows = 0;
  std::size_t text_bytes = 0;

  State(std::span<const TableColumn> of, Form as, std::function<bool(std::string_view)> to)
      : columns(of), form(as), write(std::move(to)) {}
  ~State() {
    ArrowIpcWriterReset(&writer);
    ArrowArrayViewReset(&view);
    if (batch.release != nullptr) ArrowArrayRelease(&batch);
    if (schema.release != nullptr) ArrowSchemaRelease(&schema);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int MakeSchema() {
    ArrowSchemaInit(&schema);
    NANOARROW_RETURN_NOT_OK(ArrowSchemaSetTypeStruct(&schema, static_cast<std::int64_t>(columns.size())));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      ArrowSchema* child = schema.children[i];
      NANOARROW_RETURN_NOT_OK(ArrowSchemaSetType(child, ArrowTypeOf(columns[i].type)));
      NANOARROW_RETURN_NOT_OK(ArrowSchemaSetName(child, std::string(columns[i].name).c_str()));
      if (columns[i].type == ColumnType::kKey) child->flags &= ~static_cast<std::int64_t>(ARROW_FLAG_NULLABLE);
    }
    return NANOARROW_OK;
  }

  // nanoarrow takes ownership of the stream, and calls its release function at the end.
  int Open() {
    NANOARROW_RETURN_NOT_OK(MakeSchema());
    NANOARROW_RETURN_NOT_OK(ArrowArrayViewInitFromSchema(&view, &schema, &error));
    NANOARROW_RETURN_NOT_OK(ArrowArrayInitFromSchema(&batch, &schema, &error));
    NANOARROW_RETURN_NOT_OK(ArrowArrayStartAppending(&batch));
    ArrowIpcOutputStream out{};
    out.private_data = this;
    out.write = [](ArrowIpcOutputStream* stream, const void* bytes, std::int64_t size, std::int64_t* written,
                   ArrowError*) -> ArrowErrorCode {
      auto* state = static_cast<State*>(stream->private_data);
      if (!state->write({static_cast<const char*>(bytes), static_cast<std::size_t>(size)})) return EIO;
      *written = size;
      return NANOARROW_OK;
    };
    out.release = [](ArrowIpcOutputStream* stream) { stream->release = nullptr; };
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterInit(&writer, &out));
    if (form == Form::kFile) NANOARROW_RETURN_NOT_OK(ArrowIpcWriterStartFile(&writer, &error));
    return ArrowIpcWriterWriteSchema(&writer, &schema, &error);
  }

  int AppendRow(std::span<const CellValue> row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      NANOARROW_RETURN_NOT_OK(Append(batch.children[i], columns[i].type, row[i]));
      if (const auto* text = std::get_if<std::string_view>(&row[i])) text_bytes += text->size();
    }
    ++rows;
    return ArrowArrayFinishElement(&batch);
  }

  int WriteBatch() {
    NANOARROW_RETURN_NOT_OK(ArrowArrayFinishBuildingDefault(&batch, &error));
    for (std::size_t i = 0; i < columns.size(); ++i) ClearBitsAfter(rows, batch.children[i]);
    NANOARROW_RETURN_NOT_OK(ArrowArrayViewSetArray(&view, &batch, &error));
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterWriteArrayView(&writer, &view, &error));
    ArrowArrayRelease(&batch);
    rows = 0;
    text_bytes = 0;
    NANOARROW_RETURN_NOT_OK(ArrowArrayInitFromSchema(&batch, &schema, &error));
    return ArrowArrayStartAppending(&batch);
  }

  int Finish() {
    if (rows > 0) NANOARROW_RETURN_NOT_OK(WriteBatch());
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterWriteArrayView(&writer, nullptr, &error));  // writes the end of the stream
    return form == Form::kFile ? ArrowIpcWriterFinalizeFile(&writer, &error) : NANOARROW_OK;
  }
};

ArrowFile::ArrowFile(std::span<const TableColumn> columns, Form form, std::function<bool(std::string_view)> write)
    : state_(std::make_unique<State>(columns, form, std::move(write))) {
  Check(state_->Open());
}

ArrowFile::~ArrowFile() = default;

void ArrowFile::Check(int error) {
  if (error == NANOARROW_OK || !status_.ok()) return;
  const std::string why =
      state_->error.message[0] != '\0' ? state_->error.message : std::generic_category().message(error);
  status_ = absl::UnavailableError("Arrow: " + why);
}

void ArrowFile::Insert(std::span<const CellValue> row) {
  if (!ok()) return;
  Check(state_->AppendRow(row));
  if (ok() && (state_->rows == kRowsPerBatch || state_->text_bytes >= kTextBytesPerBatch)) WriteBatch();
}

void ArrowFile::WriteBatch() { Check(state_->WriteBatch()); }

absl::Status ArrowFile::Finish() {
  if (ok()) Check(state_->Finish());
  return status_;
}

}  // namespace memoir
