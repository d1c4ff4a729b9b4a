#include "tools/view/json/pickle.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kWorthWriting = 1u << 16;

// Opcodes; their meanings are in Python's pickletools.
constexpr char kProtocol = '\x80', kEmptyDictionary = '}', kMark = '(', kSetItems = 'u', kText = 'X', kPut = 'r',
               kGet = 'j', kEmptyList = ']', kAppends = 'e', kTrue = '\x88', kFalse = '\x89', kInteger = 'J',
               kLong = '\x8a', kFloat = 'G', kPair = '\x86', kStop = '.';
constexpr std::uint64_t kMostInteger = 0x7fffffff;

}  // namespace

Pickle::Pickle(std::function<void(std::string_view)> write) : write_(std::move(write)) {
  bytes_ += kProtocol;
  bytes_ += '\x02';
}

void Pickle::BeginDictionary() {
  bytes_ += kEmptyDictionary;
  bytes_ += kMark;
}

void Pickle::EndDictionary() {
  bytes_ += kSetItems;
  Flush(kWorthWriting);
}

void Pickle::BeginList() {
  bytes_ += kEmptyList;
  bytes_ += kMark;
}

void Pickle::EndList() {
  bytes_ += kAppends;
  Flush(kWorthWriting);
}

void Pickle::Boolean(bool value) { bytes_ += value ? kTrue : kFalse; }

void Pickle::Text(std::string_view utf8) {
  bytes_ += kText;
  Little(utf8.size(), 4);
  bytes_ += utf8;
  Flush(kWorthWriting);
}

void Pickle::Remember(std::string_view utf8, std::uint32_t number) {
  Text(utf8);
  Keep(number);
}

void Pickle::Keep(std::uint32_t number) {
  bytes_ += kPut;
  Little(number, 4);
}

void Pickle::Recall(std::uint32_t number) {
  bytes_ += kGet;
  Little(number, 4);
}

void Pickle::Integer(std::uint64_t value) {
  if (value <= kMostInteger) {
    bytes_ += kInteger;
    return Little(value, 4);
  }
  bytes_ += kLong;  // The number is signed, so it needs one byte more than 64 bits.
  bytes_ += '\x09';
  Little(value, 8);
  bytes_ += '\0';
}

void Pickle::Real(double value) {
  bytes_ += kFloat;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) bytes_ += static_cast<char>(bits >> shift);
  Flush(kWorthWriting);
}

void Pickle::EndPair() { bytes_ += kPair; }

void Pickle::End() {
  bytes_ += kStop;
  Flush(0);
}

void Pickle::Little(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i));
}

void Pickle::Flush(std::size_t most) {
  if (bytes_.size() <= most) return;
  write_(bytes_);
  bytes_.clear();
}

}  // namespace memoir
