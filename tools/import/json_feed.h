// The bytes of a file as the JSON parser takes them, one by one, so that the file is never in memory as a whole.
//
// A text of 16 MiB, and a file of 64 GiB once unpacked, are the most: beyond, the parser finds the end. One thread.
#ifndef TOOLS_IMPORT_JSON_FEED_H_
#define TOOLS_IMPORT_JSON_FEED_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "tools/import/byte_source.h"

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

    explicit Iterator(JsonFeed* feed = nullptr) : feed_(feed) {}  // none: the end
    reference operator*() const { return *feed_->at_; }
    Iterator& operator++() {
      ++feed_->at_;
      return *this;
    }
    Iterator operator++(int) { return ++*this; }  // nobody looks at what was before
    bool operator==(const Iterator& other) const { return AtEnd() == other.AtEnd(); }

   private:
    bool AtEnd() const { return feed_ == nullptr || (feed_->at_ == feed_->end_ && !feed_->Refill()); }
    JsonFeed* feed_;
  };

  explicit JsonFeed(ByteSource& source) : source_(source) {}  // which must outlive it
  JsonFeed(const JsonFeed&) = delete;
  JsonFeed& operator=(const JsonFeed&) = delete;
  Iterator begin() { return Iterator(this); }

  // The parser has understood what came so far: a text or number begins anew.
  void NoteToken() { token_ = before_; }
  // Why the parser could not go on at the byte where it is.
  absl::Status WhyNot() const;

 private:
  bool Refill();
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(at_ - begin_); }

  ByteSource& source_;
  const char* begin_ = nullptr;  // of what the source has now
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t before_ = 0;  // bytes before `begin_`
  std::uint64_t token_ = 0;   // where the newest begins, at the latest
  enum class End : std::uint8_t { kNone, kOfFile, kOfText, kTooLarge } ended_ = End::kNone;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_JSON_FEED_H_
