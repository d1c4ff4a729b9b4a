#include "tools/read/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/read/chunk/step_pattern.h"
#include "tools/read/chunk/varint.h"
#include "tools/read/process_info_rules.h"

namespace memoir {
namespace {

constexpr std::uint8_t kChunkTag = 0x0A;
// Bound on a chunk's fields other than payload and index. These fields contain a ProcessInfo of at most 4,000 bytes.
constexpr std::size_t kMaxHeaderBytes = 64 * 1024;
constexpr std::size_t kMaxChunksPerPart = 1u << 20;  // so that a file of tiny chunks cannot fill the memory
constexpr char kEmptyPart[] =
    "an empty file: nothing was written to it (a full disk, or a copy that failed); copy or record again";
constexpr char kCutPart[] =
    "cut before its first chunk was complete, so that nothing of it can be read; copy it again, or record again";
constexpr std::uint32_t kPayloadField = 5;
constexpr std::uint32_t kIndexField = 14;
constexpr std::uint32_t kHeaderChecksumField = 12;
constexpr std::uint32_t kChunkBytesField = 15;
constexpr char kWrongFirstHeader[] =
    "header of the first chunk does not match its checksum: its facts about the process may be wrong";
constexpr char kWrongHeader[] = "header of a chunk does not match its checksum";

// Reads all bytes of [offset, offset + size). Returns false if this fails.
bool ReadFully(int file, std::uint64_t offset, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = pread(file, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

// Reads a file through a small buffer.
class FileView {
 public:
  FileView(int file, std::uint64_t size) : file_(file), size_(size) {}
  std::uint64_t size() const { return size_; }

  // Returns `wanted` bytes from `offset`; fewer at the end of the file.
  std::string_view Peek(std::uint64_t offset, std::size_t wanted) {
    if (offset >= size_) return {};
    wanted = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, size_ - offset));
    if (offset < begin_ || offset + wanted > begin_ + buffer_.size()) {
      buffer_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::size_t>(wanted, 4096), size_ - offset)));
      begin_ = offset;
      if (!ReadFully(file_, offset, buffer_.data(), buffer_.size())) buffer_.clear();
    }
    return std::string_view(buffer_).substr(static_cast<std::size_t>(offset - begin_)).substr(0, wanted);
  }

  bool TakeVarint(std::uint64_t* offset, std::uint64_t end, std::uint64_t* value) {
    if (*offset >= end) return false;
    const std::string_view bytes = Peek(*offset, static_cast<std::size_t>(std::min<std::uint64_t>(10, end - *offset)));
    const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::uint8_t* begin = at;
    if (!ReadVarint(&at, begin + bytes.size(), value)) return false;
    *offset += static_cast<std::uint64_t>(at - begin);
    return true;
  }

 private:
  int file_;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;
  std::string buffer_;
};

struct FileDescriptor {
  explicit FileDescriptor(const std::string& path)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~FileDescriptor() {
    if (descriptor >= 0) close(descriptor);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int descriptor;
};

// Skips one field. For a bytes field, `body` and `body_size` become the offset and the size of its content.
bool SkipField(FileView& file, std::uint64_t end, std::uint64_t* offset, std::uint64_t* tag, std::uint64_t* body,
               std::uint64_t* body_size) {
  if (!file.TakeVarint(offset, end, tag)) return false;
  *body = *offset;
  *body_size = 0;
  switch (static_cast<WireType>(*tag & 7)) {
    case WireType::kVarint: {
      std::uint64_t value = 0;
      return file.TakeVarint(offset, end, &value);
    }
    case WireType::kFixed64:
      *offset += 8;
      return *offset <= end;
    case WireType::kFixed32:
      *offset += 4;
      return *offset <= end;
    case WireType::kBytes:
      if (!file.TakeVarint(offset, end, body_size) || *body_size > end - *offset) return false;
      *body = *offset;
      *offset += *body_size;
      return true;
  }
  return false;
}

// The fields of a chunk without payload and index, and the place of the payload.
struct WalkedChunk {
  ChunkHeader header;
  v1::Chunk fields;
  bool has_index = false;
  bool header_is_wrong = false;  // the header differs from its checksum
};

// Reads the fields of the chunk in [offset, end) into `chunk`. Returns a description of the chunk's damage; empty if
// there is no damage.
std::string WalkChunk(FileView& file, std::uint64_t offset, std::uint64_t end, WalkedChunk* chunk) {
  std::string small;
  bool has_checksum = false;
  std::uint64_t checksum = 0;
  while (offset < end) {
    const std::uint64_t begin = offset;
    std::uint64_t tag = 0, body = 0, body_size = 0;
    if (!SkipField(file, end, &offset, &tag, &body, &body_size)) return "chunk is damaged";
    const std::uint64_t number = tag >> 3;
    if (number == kPayloadField && (tag & 7) == 2) {
      chunk->header.payload_offset = body;
      chunk->header.stored_bytes = body_size;
    } else if (number == kIndexField) {
      chunk->has_index = true;
    } else {
      if (number == kHeaderChecksumField && !std::exchange(has_checksum, true)) {
        checksum = XXH64(small.data(), small.size(), 0);
        // The payload and the index must follow the checksum.
        chunk->header_is_wrong = chunk->header.payload_offset != 0 || chunk->has_index;
      } else if (has_checksum && number != kChunkBytesField) {
        chunk->header_is_wrong = true;
      }
      if (small.size() + (offset - begin) > kMaxHeaderBytes) return "chunk header is damaged (too large)";
      small += file.Peek(begin, static_cast<std::size_t>(offset - begin));
    }
  }
  if (!chunk->fields.ParseFromString(small)) return "chunk header is damaged";
  ChunkHeader& header = chunk->header;
  header.sequence = chunk->fields.sequence();
  header.checksum = chunk->fields.checksum();
  header.payload_bytes = chunk->fields.payload_bytes();
  header.first_tick = chunk->fields.first_tick();
  header.last_tick = chunk->fields.last_tick();
  header.event_count = chunk->fields.event_count();
  header.complete_until_tick = chunk->fields.complete_until_tick();
  header.has_keyframe = chunk->fields.has_keyframe();
  header.recording = chunk->fields.recording();
  if (has_checksum != (header.recording != 0) || checksum != chunk->fields.header_checksum())
    chunk->header_is_wrong = true;
  if (header.stored_bytes == 0 && !chunk->has_index) return "chunk holds nothing";
  if (header.payload_bytes > kMaxPayloadBytes) return "chunk states that it is larger than 64 MiB";
  if (header.stored_bytes > kMaxPayloadBytes + (1u << 20)) return "chunk is stored in more than 64 MiB";
  if (header.event_count > header.payload_bytes + kMaxRowEvents) return "chunk says that it has more events than bytes";
  return "";
}

absl::Status NotACapture(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": not a Memoir capture (", why, " at offset 0): give the folder that `memoir run` wrote"));
}

// Walks from chunk to chunk until the end or the first damage.
absl::Status WalkPart(FileView& file, PartFile* part) {
  std::uint64_t& offset = part->walked_bytes;
  const auto damaged = [&](std::string what) {
    part->damage = Damage{part->path, offset, std::move(what)};
    return absl::OkStatus();
  };
  while (offset < file.size()) {
    std::uint64_t at = offset + 1;
    std::uint64_t length = 0;
    const std::string_view first = file.Peek(offset, 1);
    if (first.empty() || static_cast<std::uint8_t>(first[0]) != kChunkTag) {
      return offset == 0 ? NotACapture(part->path, "foreign bytes")
                         : damaged("foreign bytes where a chunk should begin");
    }
    if (!file.TakeVarint(&at, file.size(), &length) || length > file.size() - at) {
      part->ends_in_chunk = true;
      return damaged("cut in the middle of a chunk");
    }
    if (part->chunks.size() == kMaxChunksPerPart) return damaged("more chunks than a part can have");
    WalkedChunk chunk;
    chunk.header.offset = offset;
    const std::string wrong = WalkChunk(file, at, at + length, &chunk);
    if (!wrong.empty()) return offset == 0 ? NotACapture(part->path, wrong) : damaged(wrong);
    if (chunk.header_is_wrong && offset != 0) return damaged(kWrongHeader);
    if (chunk.header_is_wrong) part->passed_over.push_back({part->path, offset, kWrongFirstHeader});
    if (offset == 0) part->recording = chunk.header.recording;
    if (chunk.header.recording != part->recording) {
      part->passed_over.push_back({part->path, offset, "chunk of another recording, left out"});
      offset = at + length;
      continue;
    }
    if (offset == 0) {
      if (!chunk.fields.has_process()) return NotACapture(part->path, "no process information");
      part->process = chunk.fields.process();
      part->newer = NewerFormatError(part->process);
      if (!part->newer.empty()) return absl::OkStatus();
    }
    // A later chunk may contain more fields, such as the rank. Its ProcessInfo always describes the same process.
    if (offset != 0 && chunk.fields.has_process()) UpdateProcessInfo(chunk.fields.process(), &part->process);
    part->closed_in_order = chunk.has_index;
    part->chunks.push_back(chunk.header);
    offset = at + length;
  }
  return absl::OkStatus();
}

absl::Status Decompress(ZSTD_DCtx* context, const std::string& stored, std::uint64_t size, std::string* payload) {
  if (context == nullptr) return absl::ResourceExhaustedError("no memory to decompress a chunk");
  const unsigned long long stated = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (stated != size) return absl::DataLossError("zstd frame of a chunk states another size than the chunk");
  payload->resize(static_cast<std::size_t>(size));
  const std::size_t got = ZSTD_decompressDCtx(context, payload->data(), payload->size(), stored.data(), stored.size());
  if (ZSTD_isError(got))
    return absl::DataLossError(absl::StrCat("zstd cannot decompress a chunk (", ZSTD_getErrorName(got), ")"));
  if (got != size) return absl::DataLossError("chunk decompresses to another size than it states");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PartFile> OpenPart(const std::string& path) {
  const FileDescriptor file(path);
  struct stat status;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be opened (", std::strerror(errno),
                                            "); check its permissions and what it leads to"));
  }
  if (!S_ISREG(status.st_mode)) return NotACapture(path, "not a regular file");
  PartFile part;
  part.path = path;
  part.file_bytes = static_cast<std::uint64_t>(status.st_size);
  FileView window(file.descriptor, part.file_bytes);
  if (absl::Status walked = WalkPart(window, &part); !walked.ok()) return walked;
  if (part.chunks.empty() && part.newer.empty()) {
    return absl::DataLossError(part.file_bytes == 0 ? absl::StrCat(path, ": ", kEmptyPart)
                                                    : absl::StrCat(path, ": ", kCutPart, " (it has ", part.file_bytes,
                                                                   part.file_bytes == 1 ? " byte" : " bytes", ")"));
  }
  return part;
}

absl::Status ContinuePart(PartFile* part) {
  if (!part->newer.empty() || (part->damage && !part->ends_in_chunk)) return absl::OkStatus();
  const FileDescriptor file(part->path);
  struct stat status;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return absl::NotFoundError(part->path + ": is no longer there");
  part->file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (part->file_bytes < part->walked_bytes) return absl::DataLossError(part->path + ": is shorter than it was");
  part->damage.reset();
  part->ends_in_chunk = false;
  FileView window(file.descriptor, part->file_bytes);
  return WalkPart(window, part);
}

PayloadReader::PayloadReader() : decompressor_(ZSTD_createDCtx()) {}

PayloadReader::~PayloadReader() {
  if (file_ >= 0) close(file_);
  ZSTD_freeDCtx(decompressor_);
}

absl::Status PayloadReader::OpenFile(const std::string& path) {
  if (file_ >= 0 && path == path_) return absl::OkStatus();
  if (file_ >= 0) close(file_);
  path_ = path;
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0)
    return absl::DataLossError(absl::StrCat("file cannot be opened any more (", std::strerror(errno), ")"));
  return absl::OkStatus();
}

absl::Status PayloadReader::Read(const PartFile& part, const ChunkHeader& chunk, std::string* payload) {
  payload->clear();
  if (chunk.stored_bytes == 0) return absl::OkStatus();
  if (absl::Status opened = OpenFile(part.path); !opened.ok()) return opened;
  stored_.resize(static_cast<std::size_t>(chunk.stored_bytes));
  if (!ReadFully(file_, chunk.payload_offset, stored_.data(), stored_.size())) {
    return absl::DataLossError("chunk cannot be read any more");
  }
  if (XXH64(stored_.data(), stored_.size(), 0) != chunk.checksum) {
    return absl::DataLossError("checksum of a chunk does not match");
  }
  return Decompress(decompressor_, stored_, chunk.payload_bytes, payload);
}

}  // namespace memoir
