#include "tools/arrow/table_stream.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "nanoarrow/nanoarrow.h"
#include "nanoarrow/nanoarrow_ipc.h"
#include "tools/arrow/mapped_file.h"

namespace memoir {
namespace {

class TableReader {
 public:
  explicit TableReader(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}
  ~TableReader() {
    ArrowIpcDecoderReset(&decoder_);
    if (schema_.release != nullptr) ArrowSchemaRelease(&schema_);
  }
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Reads up to the first batch.
  int Open() {
    NANOARROW_RETURN_NOT_OK(ArrowIpcDecoderInit(&decoder_));
    NANOARROW_RETURN_NOT_OK(ReadHeader());
    if (decoder_.message_type != NANOARROW_IPC_MESSAGE_TYPE_SCHEMA) return Fail("a table begins with its schema");
    NANOARROW_RETURN_NOT_OK(ArrowIpcDecoderDecodeSchema(&decoder_, &schema_, &error_));
    return ArrowIpcDecoderSetSchema(&decoder_, &schema_, &error_);
  }

  int CopySchema(ArrowSchema* schema) { return ArrowSchemaDeepCopy(&schema_, schema); }

  // Reads the next batch. A batch without `release` marks the end.
  int Next(ArrowArray* batch) {
    batch->release = nullptr;
    const int header = ReadHeader();
    if (header == ENODATA) return NANOARROW_OK;
    NANOARROW_RETURN_NOT_OK(header);
    if (decoder_.message_type != NANOARROW_IPC_MESSAGE_TYPE_RECORD_BATCH) return Fail("no batch of rows");
    if (decoder_.body_size_bytes < 0 || decoder_.body_size_bytes > file_->size() - at_) return Fail("it is cut off");
    ArrowBuffer body = MappedFile::ShareBuffer(file_, at_, decoder_.body_size_bytes);
    at_ += decoder_.body_size_bytes;
    ArrowBuffer shared;
    int code = ArrowSharedBufferInit(&shared, &body);
    if (code != NANOARROW_OK) {
      ArrowBufferReset(&body);
      return code;
    }
    code = ArrowIpcDecoderDecodeArrayFromShared(&decoder_, &shared, -1, batch, NANOARROW_VALIDATION_LEVEL_DEFAULT,
                                                &error_);
    ArrowBufferReset(&shared);
    return code;
  }

  const char* last_error() const { return error_.message; }

 private:
  int Fail(const char* why) {
    ArrowErrorSet(&error_, "the table is damaged at byte %lld: %s", static_cast<long long>(at_), why);
    return EINVAL;
  }

  // Returns ENODATA at the end of the table.
  int ReadHeader() {
    ArrowBufferView rest;
    rest.data.as_uint8 = file_->data() + at_;
    rest.size_bytes = file_->size() - at_;
    if (rest.size_bytes == 0) return Fail("it is cut off");
    NANOARROW_RETURN_NOT_OK(ArrowIpcDecoderVerifyHeader(&decoder_, rest, &error_));
    NANOARROW_RETURN_NOT_OK(ArrowIpcDecoderDecodeHeader(&decoder_, rest, &error_));
    at_ += decoder_.header_size_bytes;
    return NANOARROW_OK;
  }

  std::shared_ptr<const MappedFile> file_;
  std::int64_t at_ = 0;
  ArrowIpcDecoder decoder_{};
  ArrowSchema schema_{};
  ArrowError error_{};
};

TableReader& ReaderOf(ArrowArrayStream* stream) { return *static_cast<TableReader*>(stream->private_data); }

std::unique_ptr<TableReader> Open(int fd, char* message, std::size_t size, int* code) {
  std::shared_ptr<const MappedFile> file = MappedFile::MapDescriptor(fd);
  if (file == nullptr) {
    *code = errno;
    std::snprintf(message, size, "the table cannot be mapped into memory: %s",
                  std::generic_category().message(errno).c_str());
    return nullptr;
  }
  auto reader = std::make_unique<TableReader>(std::move(file));
  *code = reader->Open();
  if (*code == NANOARROW_OK) return reader;
  std::snprintf(message, size, "%s", reader->last_error());
  return nullptr;
}

void* (*get_capsule_pointer)(void*, const char*) = nullptr;

template <class Struct>
void Release(Struct* allocated) {
  if (allocated == nullptr) return;
  if (allocated->release != nullptr) allocated->release(allocated);
  std::free(allocated);
}

}  // namespace
}  // namespace memoir

using memoir::TableReader;

int memoir_arrow_stream(int fd, ArrowArrayStream* stream, char* message, std::size_t size) {
  int code = 0;
  std::unique_ptr<TableReader> reader = memoir::Open(fd, message, size, &code);
  if (reader == nullptr) return code;
  stream->get_schema = [](ArrowArrayStream* of, ArrowSchema* schema) {
    return memoir::ReaderOf(of).CopySchema(schema);
  };
  stream->get_next = [](ArrowArrayStream* of, ArrowArray* batch) { return memoir::ReaderOf(of).Next(batch); };
  stream->get_last_error = [](ArrowArrayStream* of) { return memoir::ReaderOf(of).last_error(); };
  stream->release = [](ArrowArrayStream* of) {
    delete &memoir::ReaderOf(of);
    of->release = nullptr;
  };
  stream->private_data = reader.release();
  return 0;
}

int memoir_arrow_schema(int fd, ArrowSchema* schema, char* message, std::size_t size) {
  int code = 0;
  const std::unique_ptr<TableReader> reader = memoir::Open(fd, message, size, &code);
  return reader == nullptr ? code : reader->CopySchema(schema);
}

std::int64_t memoir_arrow_rows(int fd, char* message, std::size_t size) {
  int code = 0;
  const std::unique_ptr<TableReader> reader = memoir::Open(fd, message, size, &code);
  if (reader == nullptr) return -1;
  std::int64_t rows = 0;
  while (true) {
    ArrowArray batch;
    if (reader->Next(&batch) != NANOARROW_OK) {
      std::snprintf(message, size, "%s", reader->last_error());
      return -1;
    }
    if (batch.release == nullptr) return rows;
    rows += batch.length;
    ArrowArrayRelease(&batch);
  }
}

void* memoir_arrow_allocate(int is_schema) {
  return std::calloc(1, is_schema != 0 ? sizeof(ArrowSchema) : sizeof(ArrowArrayStream));
}

void memoir_arrow_release(void* allocated, int is_schema) {
  if (is_schema != 0)
    memoir::Release(static_cast<ArrowSchema*>(allocated));
  else
    memoir::Release(static_cast<ArrowArrayStream*>(allocated));
}

void memoir_arrow_setup(void* (*get_pointer)(void*, const char*)) { memoir::get_capsule_pointer = get_pointer; }

const char* memoir_arrow_capsule_name(int is_schema) { return is_schema != 0 ? "arrow_schema" : "arrow_array_stream"; }

void memoir_arrow_release_stream_capsule(void* capsule) {
  memoir_arrow_release(memoir::get_capsule_pointer(capsule, memoir_arrow_capsule_name(0)), 0);
}

void memoir_arrow_release_schema_capsule(void* capsule) {
  memoir_arrow_release(memoir::get_capsule_pointer(capsule, memoir_arrow_capsule_name(1)), 1);
}
