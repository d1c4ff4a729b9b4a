#include "tools/import/snapshot/pickle_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

using Kind = PickleValue::Kind;

// The limit of values on the stack, of values in the memo, and of containers. A snapshot of 1 GB has about ten million.
constexpr std::size_t kMostValues = std::size_t{1} << 27;
constexpr std::uint64_t kMostHeapBytes = std::uint64_t{8} << 30;
constexpr std::size_t kMostMarks = 1000;  // limit of nested containers
constexpr std::size_t kMostTexts = std::size_t{1} << 26;
constexpr std::uint64_t kMostTextBytes = 16u << 20;

// Returns the name, as in Python's pickletools, of an instruction that creates or calls objects. Otherwise empty.
std::string NameOf(std::uint8_t instruction) {
  constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {
      {'c', "GLOBAL"},     {'R', "REDUCE"},      {'i', "INST"},         {'o', "OBJ"},        {'b', "BUILD"},
      {'P', "PERSID"},     {'Q', "BINPERSID"},   {0x81, "NEWOBJ"},      {0x92, "NEWOBJ_EX"}, {0x93, "STACK_GLOBAL"},
      {0x82, "EXT1"},      {0x83, "EXT2"},       {0x84, "EXT4"},        {'B', "BINBYTES"},   {'C', "SHORT_BINBYTES"},
      {0x8e, "BINBYTES8"}, {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"}, {0x8f, "EMPTY_SET"}, {0x91, "FROZENSET"}};
  const auto* const found = std::ranges::find(kNames, instruction, &std::pair<std::uint8_t, std::string_view>::first);
  return found == std::end(kNames) ? "" : std::string(found->second);
}

}  // namespace

absl::Status PickleReader::DamageError(std::string_view what) const {
  return absl::DataLossError(absl::StrCat("damaged pickle: ", std::string(what), " at offset ", at_));
}

absl::Status PickleReader::ForeignError(std::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat("a pickle of other things, ", std::string(what), " at offset ", at_,
                                                 "; nothing of it was executed"));
}

absl::Status PickleReader::TruncationError() const {
  if (!source_.status().ok()) return source_.status();
  return absl::DataLossError(absl::StrCat("a pickle that was cut: it ends at offset ", source_.offset(),
                                          ", in the middle; copy or dump it again"));
}

absl::StatusOr<PickleReader::Value> PickleReader::Read(Visitor& visitor) {
  visitor_ = &visitor;
  while (true) {
    at_ = source_.offset();
    if (!HasBytes(1)) return TruncationError();
    const auto instruction = static_cast<std::uint8_t>(*source_.data());
    source_.Skip(1);
    if (instruction == '.') break;
    if (absl::Status done = Execute(instruction); !done.ok()) return done;
    if (stack_.size() > kMostValues || memo_.size() > kMostValues || heap_.containers() > kMostValues)
      return absl::ResourceExhaustedError(absl::StrCat("more than ", kMostValues, " values at offset ", at_));
    if (heap_.bytes() > kMostHeapBytes)
      return absl::ResourceExhaustedError(absl::StrCat("its values take more than 8 GiB at offset ", at_));
  }
  if (stack_.size() != 1 || !marks_.empty()) return DamageError("its end does not leave one value");
  return stack_.front();
}

absl::Status PickleReader::Execute(std::uint8_t instruction) {
  switch (instruction) {
    case 'h':   // BINGET
    case 'j':   // LONG_BINGET
    case 'q':   // BINPUT
    case 'r':   // LONG_BINPUT
    case 0x94:  // MEMOIZE
      return ExecuteMemo(instruction);
    case 'J':   // BININT
    case 'K':   // BININT1
    case 'M':   // BININT2
    case 0x8a:  // LONG1
    case 0x8b:  // LONG4
    case 'G':   // BINFLOAT
    case 'N':   // NONE
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      return ExecuteNumber(instruction);
    case 'X':   // BINUNICODE
    case 0x8c:  // SHORT_BINUNICODE
    case 0x8d:  // BINUNICODE8
      return ExecuteText(instruction);
    case 0x80: {  // PROTO
      if (!HasBytes(1)) return TruncationError();
      const std::uint64_t protocol = Fixed(1);
      return protocol < 2 || protocol > 5 ? DamageError(absl::StrCat("protocol ", protocol)) : absl::OkStatus();
    }
    case 0x95:  // FRAME, the size of the following block
      if (!HasBytes(8)) return TruncationError();
      source_.Skip(8);
      return absl::OkStatus();
    default:
      return ExecuteContainer(instruction);
  }
}

// Reads a little-endian number from bytes that Fill() has provided.
std::uint64_t PickleReader::Fixed(std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, source_.data(), bytes);
  source_.Skip(bytes);
  return value;
}

absl::Status PickleReader::ExecuteNumber(std::uint8_t instruction) {
  switch (instruction) {
    case 'K':
    case 'M': {
      const std::size_t bytes = instruction == 'K' ? 1 : 2;
      if (!HasBytes(bytes)) return TruncationError();
      return Push(heap_.AddInteger(static_cast<std::int64_t>(Fixed(bytes))));
    }
    case 'J':
      if (!HasBytes(4)) return TruncationError();
      return Push(heap_.AddInteger(static_cast<std::int32_t>(Fixed(4))));
    case 0x8a:
    case 0x8b: {
      const std::size_t bytes = instruction == 0x8a ? 1 : 4;
      if (!HasBytes(bytes)) return TruncationError();
      return PushLong(Fixed(bytes));
    }
    case 'G':
      if (!HasBytes(8)) return TruncationError();
      source_.Skip(8);
      return Push(Value());
    case 'N':
      return Push(Value());
    default:
      return Push(Value::Integer(instruction == 0x88 ? 1 : 0));
  }
}

// Reads a little-endian number in two's complement. An address above 2^63 has 9 bytes, the last of which is 0.
absl::Status PickleReader::PushLong(std::uint64_t bytes) {
  if (bytes > 9) return ForeignError(absl::StrCat("with a number of ", bytes, " bytes"));
  const auto size = static_cast<std::size_t>(bytes);
  if (!HasBytes(size)) return TruncationError();
  const char* const data = source_.data();
  if (size == 9 && data[8] != 0) return DamageError("a number of more than 64 bits");
  std::int64_t value = size != 0 && size < 9 && (data[size - 1] & 0x80) != 0 ? -1 : 0;
  std::memcpy(&value, data, std::min<std::size_t>(size, 8));
  source_.Skip(size);
  return Push(heap_.AddInteger(value));
}

absl::Status PickleReader::ExecuteText(std::uint8_t instruction) {
  const std::size_t bytes = instruction == 0x8c ? 1 : instruction == 'X' ? 4 : 8;
  if (!HasBytes(bytes)) return TruncationError();
  return PushText(Fixed(bytes));
}

absl::Status PickleReader::PushText(std::uint64_t bytes) {
  if (bytes > kMostTextBytes) return DamageError(absl::StrCat("a text of ", bytes, " bytes"));
  if (heap_.texts() >= kMostTexts) return absl::ResourceExhaustedError("more texts than can be read");
  if (bytes <= ByteSource::kMostAtOnce) {
    const auto size = static_cast<std::size_t>(bytes);
    if (!HasBytes(size)) return TruncationError();
    stack_.push_back(Value::Text(heap_.AddText({source_.data(), size})));
    source_.Skip(size);
    return absl::OkStatus();
  }
  std::string text;
  while (text.size() < bytes) {
    const std::size_t piece =
        std::min<std::size_t>(ByteSource::kMostAtOnce, static_cast<std::size_t>(bytes) - text.size());
    if (!HasBytes(piece)) return TruncationError();
    text.append(source_.data(), piece);
    source_.Skip(piece);
  }
  stack_.push_back(Value::Text(heap_.AddText(text)));
  return absl::OkStatus();
}

absl::Status PickleReader::ExecuteMemo(std::uint8_t instruction) {
  if (instruction == 0x94) return PutMemo(memo_.size());
  const std::size_t bytes = instruction == 'h' || instruction == 'q' ? 1 : 4;
  if (!HasBytes(bytes)) return TruncationError();
  const std::uint64_t at = Fixed(bytes);
  return instruction == 'h' || instruction == 'j' ? GetMemo(at) : PutMemo(at);
}

// Stores the stack's top value as number `at` of the memo. Writers count from 0 or 1; a much larger number is damage.
absl::Status PickleReader::PutMemo(std::uint64_t at) {
  if (stack_.empty()) return DamageError("nothing to remember");
  if (at > memo_.size() + 1000) return DamageError(absl::StrCat("value ", at, " to remember behind ", memo_.size()));
  if (at >= memo_.size()) memo_.resize(static_cast<std::size_t>(at) + 1);
  memo_[static_cast<std::size_t>(at)] = stack_.back();
  return absl::OkStatus();
}

absl::Status PickleReader::GetMemo(std::uint64_t at) {
  if (at >= memo_.size()) return DamageError(absl::StrCat("value ", at, ", which was never remembered,"));
  return Push(memo_[static_cast<std::size_t>(at)]);
}

absl::StatusOr<std::size_t> PickleReader::TakeMark() {
  if (marks_.empty()) return DamageError("no mark");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  if (mark > stack_.size()) return DamageError("fewer values than a mark says");
  return mark;
}

absl::Status PickleReader::ExecuteContainer(std::uint8_t instruction) {
  switch (instruction) {
    case '(':
      if (marks_.size() == kMostMarks) return DamageError("more than 1,000 containers in each other");
      marks_.push_back(stack_.size());
      return absl::OkStatus();
    case '}':
    case ']':
      return Push(heap_.AddContainer());
    case ')':
      return Push(Value());
    case 0x85:
    case 0x86:
    case 0x87: {
      const auto size = static_cast<std::size_t>(instruction - 0x84);
      if (stack_.size() < size) return DamageError("fewer values than a tuple has");
      return MakeTuple(stack_.size() - size);
    }
    case 't': {
      const absl::StatusOr<std::size_t> mark = TakeMark();
      return mark.ok() ? MakeTuple(*mark) : mark.status();
    }
    case 'd':
    case 'l':
      return MakeContainer(instruction == 'd');
    case 'a':
    case 's': {
      const std::size_t size = instruction == 'a' ? 1 : 2;
      if (stack_.size() <= size) return DamageError("nothing to add to a container");
      return AddItems(stack_.size() - size, instruction == 's');
    }
    case 'e':
    case 'u': {
      const absl::StatusOr<std::size_t> mark = TakeMark();
      return mark.ok() ? AddItems(*mark, instruction == 'u') : mark.status();
    }
    default:
      return Refuse(instruction);
  }
}

absl::Status PickleReader::MakeTuple(std::size_t first) {
  constexpr std::int64_t kBelow = std::int64_t{1} << 30;
  Value tuple;
  if (stack_.size() - first == 2) {
    const std::int64_t a = heap_.Integer(stack_[first]), b = heap_.Integer(stack_[first + 1]);
    if (a >= 0 && a < kBelow && b >= 0 && b < kBelow)
      tuple = Value::Pair(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
  }
  stack_.resize(first);
  stack_.push_back(tuple);
  return absl::OkStatus();
}

// Executes DICT and LIST: creates a container from the values behind the mark.
absl::Status PickleReader::MakeContainer(bool dictionary) {
  const absl::StatusOr<std::size_t> mark = TakeMark();
  if (!mark.ok()) return mark.status();
  stack_.insert(stack_.begin() + static_cast<std::ptrdiff_t>(*mark), heap_.AddContainer());
  return AddItems(*mark + 1, dictionary);
}

absl::Status PickleReader::AddItems(std::size_t first, bool dictionary) {
  if (first == 0 || !stack_[first - 1].is(Kind::kContainer)) return DamageError("items without a container");
  if (!marks_.empty() && marks_.back() >= first) return DamageError("items around a mark");
  const std::span<const Value> items(stack_.data() + first, stack_.size() - first);
  if (dictionary && items.size() % 2 != 0) return DamageError("a key without a value");
  const Value container = stack_[first - 1];
  const PickleHeap::ContainerState state = heap_.StateOf(container);
  if (state == PickleHeap::ContainerState::kNumber) return DamageError("a container that grows after it was used");
  if (!items.empty()) {
    std::optional<std::uint64_t> taken;
    if (dictionary && state == PickleHeap::ContainerState::kEmpty) taken = visitor_->TakeItems(items);
    if (absl::Status seen = visitor_->status(); !seen.ok()) return seen;
    if (taken) {
      heap_.Replace(container, *taken);
    } else {
      heap_.Append(container, items);
    }
  }
  stack_.resize(first);
  return absl::OkStatus();
}

// Reads up to the end of the line, at most `most` bytes.
std::string PickleReader::Line(std::size_t most) {
  const std::string_view there(source_.data(), std::min(source_.Fill(most), most));
  const std::string_view line = there.substr(0, there.find('\n'));
  source_.Skip(std::min(line.size() + 1, there.size()));
  return std::string(line);
}

absl::Status PickleReader::Refuse(std::uint8_t instruction) {
  std::string named;
  if (instruction == 'c' || instruction == 'i') {
    named = Line(200) + ".";
    named += Line(200);
  } else if (instruction == 0x93 && stack_.size() >= 2 && stack_.back().is(Kind::kText) &&
             stack_[stack_.size() - 2].is(Kind::kText)) {
    named.append(heap_.text(static_cast<std::uint32_t>(stack_[stack_.size() - 2].data())).substr(0, 200)).append(".");
    named += heap_.text(static_cast<std::uint32_t>(stack_.back().data()));
  }
  if (!named.empty()) return ForeignError(absl::StrCat("which names ", named.substr(0, 200)));
  if (const std::string name = NameOf(instruction); !name.empty()) return ForeignError(absl::StrCat("with ", name));
  return DamageError(absl::StrCat("instruction 0x", absl::Hex(instruction, absl::kZeroPad2)));
}

}  // namespace memoir
