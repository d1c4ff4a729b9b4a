// A growing sequence of bytes to which varints are appended: one packed column of a message, without its tag and
// length. One thread.
#ifndef TRACKER_WRITER_EVENTS_VARINT_COLUMN_H_
#define TRACKER_WRITER_EVENTS_VARINT_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

namespace memoir {

inline constexpr std::size_t kMaxVarintBytes = 10;

// Used instead of std::string, which would check its capacity for each byte; this is the inner loop of the writer.
class VarintColumn {
 public:
  VarintColumn() = default;
  VarintColumn(VarintColumn&&) = default;
  VarintColumn& operator=(VarintColumn&&) = default;

  void PutByte(std::uint8_t value) {
    Reserve(1);
    bytes_.get()[size_++] = static_cast<char>(value);
  }
  void Put(std::uint64_t value) {
    Reserve(kMaxVarintBytes);
    size_ += static_cast<std::size_t>(protozero::add_varint_to_buffer(bytes_.get() + size_, value));
  }
  // Appends zigzag(value - before), where the difference is modulo 2^64.
  void PutDelta(std::uint64_t value, std::uint64_t before) {
    Put(protozero::encode_zigzag64(static_cast<std::int64_t>(value - before)));
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }

  // Adds the bytes as a packed (or bytes) field of `message`. Adds nothing if the column is empty.
  void AddTo(protozero::pbf_writer& message, protozero::pbf_tag_type tag) const {
    if (size_ != 0) message.add_bytes(tag, bytes_.get(), size_);
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  void Reserve(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      Grow();
  }
  void Grow() {
    const std::size_t capacity = capacity_ == 0 ? 64 : capacity_ * 2;
    void* grown = std::realloc(bytes_.get(), capacity);
    if (grown == nullptr) throw std::bad_alloc();
    (void)bytes_.release();
    bytes_.reset(static_cast<char*>(grown));
    capacity_ = capacity;
  }

  std::unique_ptr<char, Free> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_EVENTS_VARINT_COLUMN_H_
