#include "tools/import/files/byte_source.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace memoir {
namespace {

gzFile FileOf(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void ByteSource::Close::operator()(void* file) const { gzclose_r(FileOf(file)); }

absl::StatusOr<ByteSource> ByteSource::Open(int descriptor) {
  gzFile file = gzdopen(descriptor, "rb");
  if (file == nullptr) {
    close(descriptor);
    return absl::ResourceExhaustedError("no memory to read it");
  }
  gzbuffer(file, 1u << 18);
  return ByteSource(file);
}

std::size_t ByteSource::Refill() {
  const auto there = static_cast<std::size_t>(end_ - at_);
  if (ended_) return there;
  before_ += static_cast<std::uint64_t>(at_ - buffer_.data());
  std::memmove(buffer_.data(), at_, there);
  at_ = buffer_.data();
  end_ = at_ + there;
  gzFile file = FileOf(file_.get());
  const int got = gzread(file, buffer_.data() + there, static_cast<unsigned>(buffer_.size() - there));
  if (got > 0) end_ += got;
  if (got <= 0) ended_ = true;
  int error = Z_OK;
  const char* const why = gzerror(file, &error);
  // A truncated gzip stream is not an error here: the reader of the file reports where it ends.
  if (got < 0 && error != Z_BUF_ERROR)
    status_ = absl::DataLossError(error == Z_ERRNO ? std::strerror(errno) : std::string("damaged gzip: ") + why);
  return static_cast<std::size_t>(end_ - at_);
}

}  // namespace memoir
