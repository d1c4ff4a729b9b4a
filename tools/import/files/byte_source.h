// Reads another program's file once, from begin to end, and decompresses gzip.
//
// One thread. The input is not trusted: no allocation depends on a length that the file states.
#ifndef TOOLS_IMPORT_FILES_BYTE_SOURCE_H_
#define TOOLS_IMPORT_FILES_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memoir {

class ByteSource {
 public:
  // Takes an open descriptor of a regular file and closes it at the end. Recognises gzip by its first bytes.
  static absl::StatusOr<ByteSource> Open(int descriptor);
  ByteSource(ByteSource&&) noexcept = default;
  ByteSource& operator=(ByteSource&&) noexcept = default;
  ~ByteSource() = default;

  // Returns how many bytes are at `data()`: at least `wanted` (at most kMostAtOnce), unless the file ends or an error
  // occurs.
  std::size_t Fill(std::size_t wanted) {
    const auto there = static_cast<std::size_t>(end_ - at_);
    return there >= wanted ? there : Refill();
  }
  const char* data() const { return at_; }
  void Skip(std::size_t bytes) { at_ += bytes; }  // at most the bytes at data()
  // The offset of the next byte in the decompressed file.
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(at_ - buffer_.data()); }
  // Not OK if the file could not be read to its end, or if its gzip data is damaged.
  absl::Status status() const { return status_; }

  static constexpr std::size_t kMostAtOnce = 64 * 1024;

 private:
  struct Close {
    void operator()(void* file) const;
  };
  explicit ByteSource(void* file) : file_(file), buffer_(kBuffer), at_(buffer_.data()), end_(buffer_.data()) {}
  std::size_t Refill();

  static constexpr std::size_t kBuffer = 1u << 20;
  std::unique_ptr<void, Close> file_;
  std::vector<char> buffer_;
  const char* at_;
  const char* end_;
  std::uint64_t before_ = 0;  // bytes of the decompressed file before the buffer
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_FILES_BYTE_SOURCE_H_
