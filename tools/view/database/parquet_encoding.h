// The encodings in Parquet files: Thrift's compact protocol for metadata, and the hybrid of run-length and bit-packed
// encoding for levels and indices.
// https://parquet.apache.org/docs/file-format, and doc/specs/thrift-compact-protocol.md of Thrift.
#ifndef TOOLS_VIEW_DATABASE_PARQUET_ENCODING_H_
#define TOOLS_VIEW_DATABASE_PARQUET_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace memoir {

void AppendVarint(std::uint64_t value, std::string& out);
// Appends the lowest `bytes` bytes of `value`, little-endian.
void AppendNumber(std::uint64_t value, std::size_t bytes, std::string& out);
// Appends values in the hybrid encoding. Each value is below 2^bits; `bits` is 1 to 32.
void AppendHybrid(std::span<const std::uint32_t> values, unsigned bits, std::string& out);

// Appends a Thrift struct to a text, field by field in the order of their ids.
class ThriftStruct {
 public:
  enum class Type : std::uint8_t {
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kI16 = 4,
    kI32 = 5,
    kI64 = 6,
    kText = 8,
    kList = 9,
    kStruct = 12
  };

  explicit ThriftStruct(std::string& out) : out_(out) {}

  void Bool(int id, bool value) { Header(id, value ? Type::kTrue : Type::kFalse); }
  void Byte(int id, std::uint8_t value);
  void I32(int id, std::int64_t value) { Number(id, Type::kI32, value); }
  void I64(int id, std::int64_t value) { Number(id, Type::kI64, value); }
  void Text(int id, std::string_view value);
  template <class Fill>
  void Struct(int id, Fill fill) {
    Header(id, Type::kStruct);
    Element(out_, fill);
  }
  // Begins a list. The caller must then append `size` elements: with AppendInteger, with AppendText, or with Element
  // for structs.
  void List(int id, Type of, std::size_t size);

  // Appends an outermost struct, or a struct that is an element of a list.
  template <class Fill>
  static void Element(std::string& out, Fill fill) {
    ThriftStruct inner(out);
    fill(inner);
    out.push_back('\0');
  }
  static void AppendInteger(std::int64_t value, std::string& out);
  static void AppendText(std::string_view value, std::string& out);

 private:
  void Header(int id, Type type);
  void Number(int id, Type type, std::int64_t value);

  std::string& out_;
  int last_id_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_PARQUET_ENCODING_H_
