// Feeds the bytes of a file to the JSON parser one by one, so the file is never in memory as a whole.
//
// Reports the end of the file to the parser at 64 GiB of decompressed data, and after 16 MiB without a token. One
// thread.
#ifndef TOOLS_IMPORT_TRACE_JSON_FEED_H_
#define TOOLS_IMPORT_TRACE_JSON_FEED_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "tools/import/files/byte_source.h"

namespace memoir {

class JsonFeed {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    explicit Iterator(JsonFeed* feed = nullptr) : feed_(feed) {}  // nullptr: the end
    reference operator*() const { return *feed_->at_; }
    Iterator& operator++() {
      ++feed_->at_;
      return *this;
    }
    Iterator operator++(int) { return ++*this; }  // the parser does not use the previous value
    bool operator==(const Iterator& other) const { return AtEnd() == other.AtEnd(); }

   private:
    bool AtEnd() const { return feed_ == nullptr || (feed_->at_ == feed_->end_ && !feed_->Refill()); }
    JsonFeed* feed_;
  };

  explicit JsonFeed(ByteSource& source) : source_(source) {}  // `source` must outlive this object
  JsonFeed(const JsonFeed&) = delete;
  JsonFeed& operator=(const JsonFeed&) = delete;
  Iterator begin() { return Iterator(this); }

  // Call it when the parser has read a token: the next text or number begins here at the earliest.
  void NoteToken() { token_ = before_; }
  // Returns why the parser stopped at the current byte.
  absl::Status ParseError() const;

 private:
  bool Refill();
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(at_ - begin_); }

  ByteSource& source_;
  const char* begin_ = nullptr;  // begin of the source's current bytes
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t before_ = 0;  // bytes before `begin_`
  std::uint64_t token_ = 0;   // offset of the last known token's end
  enum class End : std::uint8_t { kNone, kOfFile, kOfText, kTooLarge } ended_ = End::kNone;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_JSON_FEED_H_
