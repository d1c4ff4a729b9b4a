#include "tracker/drain/part_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include <xxhash.h>
#include <zstd.h>
#include <protozero/pbf_reader.hpp>

#include "interpose/system/private_file.h"
#include "tracker/writer/events/capture_fields.h"

namespace memoir {
namespace {

constexpr std::uint64_t kMaxPayloadBytes = 64u << 20;
constexpr std::size_t kFrontBytes = 1 + 10;  // tag and length
constexpr char kChunkTag = 0x0a;

class File {
 public:
  explicit File(const std::string& path) : file_(OpenPrivateFile(path.c_str(), O_RDONLY)) {
    struct stat facts;
    if (file_ >= 0 && fstat(file_, &facts) == 0) size_ = static_cast<std::uint64_t>(facts.st_size);
  }
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size() const { return size_; }
  // Returns the bytes from `offset` on, at most `bytes` of them.
  std::string Read(std::uint64_t offset, std::size_t bytes) const {
    std::string data(std::min<std::uint64_t>(bytes, size_ - std::min(offset, size_)), '\0');
    std::size_t got = 0;
    while (got < data.size()) {
      const ssize_t now = pread(file_, data.data() + got, data.size() - got, static_cast<off_t>(offset + got));
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) break;
      got += static_cast<std::size_t>(now);
    }
    data.resize(got);
    return data;
  }

 private:
  int file_;
  std::uint64_t size_ = 0;
};

std::string_view Bytes(protozero::data_view view) { return {view.data(), view.size()}; }

// Reads the message of the chunk at `*offset`, and advances `*offset` past the chunk. False if the chunk is cut, or if
// there is no chunk.
bool NextChunk(const File& file, std::uint64_t* offset, std::string* message) {
  const std::string front = file.Read(*offset, kFrontBytes);
  if (front.size() < 2 || front[0] != kChunkTag) return false;
  const char* at = front.data() + 1;
  const std::uint64_t length = protozero::decode_varint(&at, front.data() + front.size());
  const std::uint64_t start = *offset + static_cast<std::uint64_t>(at - front.data());
  if (length > file.size() - start) return false;
  *message = file.Read(start, length);
  *offset = start + length;
  return message->size() == length;
}

bool Decompress(std::string_view stored, std::uint64_t size, std::string* payload) {
  if (size > kMaxPayloadBytes || ZSTD_getFrameContentSize(stored.data(), stored.size()) != size) return false;
  payload->resize(size);
  return ZSTD_decompress(payload->data(), size, stored.data(), stored.size()) == size;
}

bool ReadChunk(const std::string& message, std::string* payload, ChunkView* chunk) {
  std::uint64_t checksum = 0;
  std::uint64_t payload_bytes = 0;
  std::string_view stored;
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag()) {
      case field::chunk::kSequence:
        chunk->sequence = reader.get_uint64();
        break;
      case field::chunk::kRecording:
        chunk->recording = reader.get_fixed64();
        break;
      case field::chunk::kProcess:
        chunk->process = Bytes(reader.get_view());
        break;
      case field::chunk::kChecksum:
        checksum = reader.get_fixed64();
        break;
      case field::chunk::kPayloadBytes:
        payload_bytes = reader.get_uint64();
        break;
      case field::chunk::kPayload:
        stored = Bytes(reader.get_view());
        break;
      default:
        reader.skip();
    }
  }
  if (stored.empty()) return true;
  if (XXH64(stored.data(), stored.size(), 0) != checksum || !Decompress(stored, payload_bytes, payload)) return false;
  chunk->payload = *payload;
  return true;
}

}  // namespace

void ReadPart(const std::string& path, const std::function<bool(const ChunkView&)>& visit) {
  const File file(path);
  std::string message;
  std::string payload;
  std::uint64_t offset = 0;
  try {
    while (NextChunk(file, &offset, &message)) {
      ChunkView chunk;
      if (!ReadChunk(message, &payload, &chunk) || !visit(chunk)) return;
    }
  } catch (const protozero::exception&) {
    // The part is damaged here. The chunks before the damage were visited.
  }
}

}  // namespace memoir
