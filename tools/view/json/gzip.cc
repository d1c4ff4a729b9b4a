#include "tools/view/json/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"

namespace memoir {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window; +16 selects gzip's header
constexpr int kRawWindow = -15;       // the largest window; negative selects no header
constexpr std::size_t kPiece = 1 << 16;

// Runs zlib on `bytes` and collects its output, until `step` finishes or fails, or the output exceeds `most` bytes.
// `step(is_last)` calls deflate or inflate once.
template <class Step>
int Pump(z_stream& stream, std::string_view bytes, std::size_t most, const Step& step, std::string& made) {
  char piece[kPiece];
  int result = Z_OK;
  while (result == Z_OK && made.size() <= most) {
    if (stream.avail_in == 0) {
      const std::size_t size = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(size);
      bytes.remove_prefix(size);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = kPiece;
    result = step(bytes.empty());
    made.append(piece, kPiece - stream.avail_out);
  }
  return result;
}

std::string Packed(std::string_view bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string file;
  const auto step = [&](bool is_last) { return deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH); };
  Pump(stream, bytes, std::numeric_limits<std::size_t>::max(), step, file);
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
  const int result = Pump(stream, bytes, most, [&](bool) { return inflate(&stream, Z_NO_FLUSH); }, text);
  inflateEnd(&stream);
  if (text.size() > most) return absl::ResourceExhaustedError("decompressed it is larger than Memoir reads");
  if (result != Z_STREAM_END) return absl::InvalidArgumentError("its gzip data are damaged or end too early");
  return text;
}

}  // namespace memoir
