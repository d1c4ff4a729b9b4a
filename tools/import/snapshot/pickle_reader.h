// Reads pickles of plain data (protocols 2 to 5): dictionaries, lists, tuples, texts, numbers. The reader calls no code
// of the pickle. For an instruction that such data do not need it returns an error with the instruction's name.
//
// For files of 1 GB with ten million dictionaries, it passes each dictionary to a visitor once its items are read.
// The visitor can replace the dictionary by a number, so that its items need no memory. A value needs 8 bytes.
//
// One thread. The input is not trusted: every error is a status whose message contains the offset.
#ifndef TOOLS_IMPORT_SNAPSHOT_PICKLE_READER_H_
#define TOOLS_IMPORT_SNAPSHOT_PICKLE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/import/files/byte_source.h"
#include "tools/import/snapshot/pickle_heap.h"
#include "tools/import/snapshot/pickle_value.h"

namespace memoir {

class PickleReader {
 public:
  using Value = PickleValue;
  class Visitor {
   public:
    virtual ~Visitor() = default;
    // Called once for each dictionary, with the items that the first instruction adds: key, value, key, value, ... The
    // returned number replaces the dictionary (PickleHeap::VisitorNumber()). nullopt to keep the dictionary.
    virtual std::optional<std::uint64_t> TakeItems(std::span<const Value> items) = 0;
    // If not OK, Read() stops and returns this status.
    virtual absl::Status status() const { return absl::OkStatus(); }
  };

  // `heap` receives the objects to which values refer. `source` and `heap` must outlive this object.
  PickleReader(ByteSource& source, PickleHeap& heap) : source_(source), heap_(heap) {}

  absl::StatusOr<Value> Read(Visitor& visitor);

 private:
  absl::Status Execute(std::uint8_t instruction);
  absl::Status ExecuteNumber(std::uint8_t instruction);
  absl::Status ExecuteText(std::uint8_t instruction);
  absl::Status ExecuteContainer(std::uint8_t instruction);
  absl::Status ExecuteMemo(std::uint8_t instruction);
  absl::Status Refuse(std::uint8_t instruction);
  absl::Status DamageError(std::string_view what) const;
  absl::Status ForeignError(std::string_view what) const;
  absl::Status TruncationError() const;

  absl::Status Push(Value value) {
    stack_.push_back(value);
    return absl::OkStatus();
  }
  absl::Status PushText(std::uint64_t bytes);
  absl::Status PushLong(std::uint64_t bytes);
  absl::Status MakeTuple(std::size_t first);
  absl::Status MakeContainer(bool dictionary);
  absl::Status AddItems(std::size_t first, bool dictionary);
  absl::Status PutMemo(std::uint64_t at);
  absl::Status GetMemo(std::uint64_t at);
  absl::StatusOr<std::size_t> TakeMark();
  std::string Line(std::size_t most);
  std::uint64_t Fixed(std::size_t bytes);
  bool HasBytes(std::size_t bytes) { return source_.Fill(bytes) >= bytes; }

  ByteSource& source_;
  PickleHeap& heap_;
  Visitor* visitor_ = nullptr;
  std::uint64_t at_ = 0;  // offset of the current instruction
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Value> memo_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_PICKLE_READER_H_
