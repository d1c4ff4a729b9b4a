// Reads pickles of plain data (protocols 2 to 5): dictionaries, lists, tuples, texts, numbers. Executes nothing: of the
// pickle's instructions it knows those that such data needs, and refuses all others, by name.
//
// Made for files of 1 GB with ten million dictionaries: a visitor takes each dictionary as soon as it has its items,
// and leaves a number in its place. So a value is 8 bytes, and nothing is built that nobody asked for.
//
// One thread. Its input is untrusted: every error is a status that names the offset.
#ifndef TOOLS_IMPORT_PICKLE_READER_H_
#define TOOLS_IMPORT_PICKLE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/import/byte_source.h"
#include "tools/import/pickle_heap.h"
#include "tools/import/pickle_value.h"

namespace memoir {

class PickleReader {
 public:
  using Value = PickleValue;
  class Visitor {
   public:
    virtual ~Visitor() = default;
    // A dictionary's first items, as key, value, key, value, ... What is returned stands in its place from here on and
    // is known by PickleHeap::Number(); nothing: it stays as it is.
    virtual std::optional<std::uint64_t> TakeItems(std::span<const Value> items) = 0;
    // Not OK: it has seen enough.
    virtual absl::Status status() const { return absl::OkStatus(); }
  };

  // `heap` gets what the values are numbers of; both must outlive it.
  PickleReader(ByteSource& source, PickleHeap& heap) : source_(source), heap_(heap) {}

  absl::StatusOr<Value> Read(Visitor& visitor);

 private:
  absl::Status Do(std::uint8_t instruction);
  absl::Status DoNumber(std::uint8_t instruction);
  absl::Status DoText(std::uint8_t instruction);
  absl::Status DoContainer(std::uint8_t instruction);
  absl::Status DoMemo(std::uint8_t instruction);
  absl::Status Refuse(std::uint8_t instruction);
  absl::Status Wrong(std::string_view what) const;
  absl::Status OtherThings(std::string_view what) const;
  absl::Status Cut() const;

  absl::Status Push(Value value) {
    stack_.push_back(value);
    return absl::OkStatus();
  }
  absl::Status PushText(std::uint64_t bytes);
  absl::Status PushLong(std::uint64_t bytes);
  absl::Status MakeTuple(std::size_t first);
  absl::Status MakeContainer(bool dictionary);
  absl::Status AddItems(std::size_t first, bool dictionary);
  absl::Status Put(std::uint64_t at);
  absl::Status Get(std::uint64_t at);
  absl::StatusOr<std::size_t> TakeMark();
  std::string Line(std::size_t most);
  std::uint64_t Fixed(std::size_t bytes);
  bool Has(std::size_t bytes) { return source_.Fill(bytes) >= bytes; }

  ByteSource& source_;
  PickleHeap& heap_;
  Visitor* visitor_ = nullptr;
  std::uint64_t at_ = 0;  // offset of the instruction
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Value> memo_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_PICKLE_READER_H_
