#include "tools/view/json/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"

namespace memoir {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header and not zlib's
constexpr int kRawWindow = -15;       // the same, with none
constexpr std::size_t kPiece = 1 << 16;

std::string Packed(std::string_view bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string file;
  char piece[kPiece];
  int result = Z_OK;
  while (result == Z_OK) {
    if (stream.avail_in == 0) {
      const std::size_t size = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(size);
      bytes.remove_prefix(size);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = kPiece;
    result = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    file.append(piece, kPiece - stream.avail_out);
  }
  deflateEnd(&stream);
  return file;
}

}  // namespace

std::string Gzip(std::string_view bytes) { return Packed(bytes, kGzipWindow); }
std::string Deflate(std::string_view bytes) { return Packed(bytes, kRawWindow); }

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

absl::StatusOr<std::string> Gunzip(std::string_view bytes, std::size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return absl::ResourceExhaustedError("no memory to decompress it");
  std::string text;
  char piece[kPiece];
  int result = Z_OK;
  while (result == Z_OK && text.size() <= most) {
    if (stream.avail_in == 0) {
      const std::size_t size = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(size);
      bytes.remove_prefix(size);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = kPiece;
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, kPiece - stream.avail_out);
  }
  inflateEnd(&stream);
  if (text.size() > most) return absl::ResourceExhaustedError("decompressed it is larger than Memoir reads");
  if (result != Z_STREAM_END) return absl::InvalidArgumentError("its gzip data are damaged or end too early");
  return text;
}

}  // namespace memoir
