#include "tools/view/database/parquet_file.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "tools/view/database/parquet_encoding.h"

namespace memoir {
namespace {

// Numbers defined in parquet.thrift.
constexpr int kInt64 = 2, kByteArray = 6;
constexpr int kRequired = 0, kOptional = 1;
constexpr int kUtf8 = 0, kUint64 = 14;
constexpr int kPlain = 0, kRle = 3, kRleDictionary = 8;
constexpr int kZstd = 6;
constexpr int kDataPage = 0, kDictionaryPage = 2;

constexpr std::string_view kMagic = "PAR1";
constexpr int kCompressionLevel = 3;

using Type = ThriftStruct::Type;

// A column of the row group that is being filled.
struct FilledColumn {
  std::vector<std::uint32_t> levels;   // for each row: 0 for NULL, else 1. Empty if the column cannot have NULLs
  std::vector<std::uint64_t> numbers;  // for each row with a number
  std::vector<std::uint32_t> indices;  // for each row with a text: the index of the text in the dictionary
  std::string texts;                   // the dictionary's texts, as a page contains them
  absl::flat_hash_map<std::string, std::uint32_t> known;
  std::size_t rows = 0;

  void AppendText(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(known.size());
    const auto [found, is_new] = known.try_emplace(absl::string_view(text.data(), text.size()), next);
    indices.push_back(found->second);
    if (!is_new) return;
    AppendNumber(text.size(), 4, texts);
    texts.append(text);
  }

  void Append(ColumnType type, const CellValue& value) {
    const bool is_null = std::holds_alternative<std::monostate>(value);
    ++rows;
    if (type != ColumnType::kKey) levels.push_back(is_null ? 0 : 1);
    if (is_null && type != ColumnType::kKey) return;
    const auto* text = std::get_if<std::string_view>(&value);
    const auto* number = std::get_if<std::uint64_t>(&value);
    if (type == ColumnType::kText) return AppendText(text == nullptr ? std::string_view() : *text);
    numbers.push_back(number == nullptr ? 0 : *number);
  }

  std::size_t nulls() const { return rows - numbers.size() - indices.size(); }

  void Clear() {
    levels.clear();
    numbers.clear();
    indices.clear();
    texts.clear();
    known.clear();
    rows = 0;
  }
};

// Returns the least and the greatest number. nullopt if there are no numbers.
std::optional<std::pair<std::uint64_t, std::uint64_t>> Range(const FilledColumn& column, ColumnType type) {
  if (column.numbers.empty()) return std::nullopt;
  const auto less = [type](std::uint64_t a, std::uint64_t b) {
    return type == ColumnType::kWide ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  };
  const auto [least, greatest] = std::ranges::minmax(column.numbers, less);
  return std::pair(least, greatest);
}

std::string EightBytes(std::uint64_t number) {
  std::string bytes;
  AppendNumber(number, 8, bytes);
  return bytes;
}

std::int64_t Signed(std::size_t size) { return static_cast<std::int64_t>(size); }

// Returns a page with the levels and then the values. If the values are indices of the dictionary, their width in bits
// comes before them.
std::string DataPage(const FilledColumn& column, ColumnType type) {
  std::string page;
  if (type != ColumnType::kKey) {
    std::string levels;
    AppendHybrid(column.levels, 1, levels);
    AppendNumber(levels.size(), 4, page);
    page += levels;
  }
  if (!column.indices.empty()) {
    const auto bits = static_cast<unsigned>(std::max(1, static_cast<int>(std::bit_width(column.known.size() - 1))));
    page.push_back(static_cast<char>(bits));
    AppendHybrid(column.indices, bits, page);
  }
  page.reserve(page.size() + 8 * column.numbers.size());
  for (const std::uint64_t number : column.numbers) AppendNumber(number, 8, page);
  return page;
}

void AppendSchema(const TableColumn& column, std::string& out) {
  ThriftStruct::Element(out, [&](ThriftStruct& element) {
    element.I32(1, column.type == ColumnType::kText ? kByteArray : kInt64);
    element.I32(3, column.type == ColumnType::kKey ? kRequired : kOptional);
    element.Text(4, column.name);
    if (column.type == ColumnType::kText) {
      element.I32(6, kUtf8);
      element.Struct(10, [](ThriftStruct& type) { type.Struct(1, [](ThriftStruct&) {}); });
    }
    if (column.type == ColumnType::kWide) {
      element.I32(6, kUint64);
      element.Struct(10, [](ThriftStruct& type) {
        type.Struct(10, [](ThriftStruct& integer) {
          integer.Byte(1, 64);
          integer.Bool(2, false);  // no sign
        });
      });
    }
  });
}

}  // namespace

struct ParquetFile::State {
  struct Sizes {
    std::size_t plain = 0, compressed = 0;  // size of the pages with their headers
  };

  std::span<const TableColumn> columns;
  std::function<bool(std::string_view)> write;
  std::vector<FilledColumn> group;
  std::size_t rows = 0;  // rows of the group
  std::size_t all_rows = 0;
  std::uint64_t at = 0;    // bytes written so far
  std::string row_groups;  // metadata of the written row groups
  std::size_t row_group_count = 0;
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string compressed;
  bool ok = true;

  State(std::span<const TableColumn> of, std::function<bool(std::string_view)> to)
      : columns(of), write(std::move(to)), group(of.size()) {}
  ~State() { ZSTD_freeCCtx(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void Write(std::string_view bytes) {
    if (ok) ok = write(bytes);
    at += bytes.size();
  }

  // `describe` writes the header's fields for this kind of page.
  template <class Describe>
  void WritePage(int kind, const std::string& page, Sizes& sizes, Describe describe) {
    compressed.resize(ZSTD_compressBound(page.size()));
    const std::size_t size =
        ZSTD_compressCCtx(context, compressed.data(), compressed.size(), page.data(), page.size(), kCompressionLevel);
    if (ZSTD_isError(size) != 0) {
      ok = false;
      return;
    }
    std::string header;
    ThriftStruct::Element(header, [&](ThriftStruct& fields) {
      fields.I32(1, kind);
      fields.I32(2, Signed(page.size()));
      fields.I32(3, Signed(size));
      describe(fields);
    });
    Write(header);
    Write(std::string_view(compressed).substr(0, size));
    sizes.plain += header.size() + page.size();
    sizes.compressed += header.size() + size;
  }

  // Writes the pages of a column, and adds the column to the metadata of the row group.
  Sizes WriteColumn(const TableColumn& of, const FilledColumn& column, std::string& metadata) {
    const bool has_dictionary = !column.indices.empty();
    const int encoding = has_dictionary ? kRleDictionary : kPlain;
    const std::uint64_t begin = at;
    Sizes sizes;
    if (has_dictionary)
      WritePage(kDictionaryPage, column.texts, sizes, [&](ThriftStruct& header) {
        header.Struct(7, [&](ThriftStruct& dictionary) {
          dictionary.I32(1, Signed(column.known.size()));
          dictionary.I32(2, kPlain);
        });
      });
    const std::uint64_t data = at;
    WritePage(kDataPage, DataPage(column, of.type), sizes, [&](ThriftStruct& header) {
      header.Struct(5, [&](ThriftStruct& page) {
        page.I32(1, Signed(column.rows));
        page.I32(2, encoding);
        page.I32(3, kRle);
        page.I32(4, kRle);
      });
    });
    ThriftStruct::Element(metadata, [&](ThriftStruct& chunk) {
      chunk.I64(2, Signed(begin));
      chunk.Struct(3, [&](ThriftStruct& facts) {
        facts.I32(1, of.type == ColumnType::kText ? kByteArray : kInt64);
        facts.List(2, Type::kI32, has_dictionary ? 3 : 2);
        for (const int used : {kPlain, kRle}) ThriftStruct::AppendInteger(used, metadata);
        if (has_dictionary) ThriftStruct::AppendInteger(kRleDictionary, metadata);
        facts.List(3, Type::kText, 1);
        ThriftStruct::AppendText(of.name, metadata);
        facts.I32(4, kZstd);
        facts.I64(5, Signed(column.rows));
        facts.I64(6, Signed(sizes.plain));
        facts.I64(7, Signed(sizes.compressed));
        facts.I64(9, Signed(data));
        if (has_dictionary) facts.I64(11, Signed(begin));
        facts.Struct(12, [&](ThriftStruct& statistics) {
          statistics.I64(3, Signed(column.nulls()));
          if (const auto range = Range(column, of.type)) {
            statistics.Text(5, EightBytes(range->second));
            statistics.Text(6, EightBytes(range->first));
          }
        });
      });
    });
    return sizes;
  }

  void WriteGroup() {
    if (rows == 0) return;
    std::string chunks;
    std::size_t plain = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      plain += WriteColumn(columns[i], group[i], chunks).plain;
      group[i].Clear();
    }
    ThriftStruct::Element(row_groups, [&](ThriftStruct& fields) {
      fields.List(1, Type::kStruct, columns.size());
      row_groups += chunks;
      fields.I64(2, Signed(plain));
      fields.I64(3, Signed(rows));
    });
    ++row_group_count;
    all_rows += rows;
    rows = 0;
  }

  std::string Footer() const {
    std::string footer;
    ThriftStruct::Element(footer, [&](ThriftStruct& file) {
      file.I32(1, 2);  // the format's version
      file.List(2, Type::kStruct, columns.size() + 1);
      ThriftStruct::Element(footer, [&](ThriftStruct& root) {
        root.Text(4, "schema");
        root.I32(5, Signed(columns.size()));
      });
      for (const TableColumn& column : columns) AppendSchema(column, footer);
      file.I64(3, Signed(all_rows));
      file.List(4, Type::kStruct, row_group_count);
      footer += row_groups;
      file.List(5, Type::kStruct, 1);
      ThriftStruct::Element(footer, [](ThriftStruct& pair) {
        pair.Text(1, "memoir.tables");
        pair.Text(2, std::to_string(kTablesVersion));
      });
      file.Text(6, "memoir");
      // States that the minimum and the maximum of each column follow the order of the column's type.
      file.List(7, Type::kStruct, columns.size());
      for (std::size_t i = 0; i < columns.size(); ++i)
        ThriftStruct::Element(footer, [](ThriftStruct& order) { order.Struct(1, [](ThriftStruct&) {}); });
    });
    return footer;
  }

  bool IsFull() const {
    std::size_t text_bytes = 0;
    for (const FilledColumn& column : group) text_bytes += column.texts.size();
    return rows == kRowsPerGroup || text_bytes >= kTextBytesPerGroup;
  }
};

ParquetFile::ParquetFile(std::span<const TableColumn> columns, std::function<bool(std::string_view)> write)
    : state_(std::make_unique<State>(columns, std::move(write))) {
  if (state_->context == nullptr) status_ = absl::ResourceExhaustedError("Parquet: no memory to compress with");
  state_->Write(kMagic);
}

ParquetFile::~ParquetFile() = default;

bool ParquetFile::ok() const { return status_.ok() && state_->ok; }

void ParquetFile::Insert(std::span<const CellValue> row) {
  if (!ok()) return;
  for (std::size_t i = 0; i < state_->columns.size(); ++i) state_->group[i].Append(state_->columns[i].type, row[i]);
  ++state_->rows;
  if (state_->IsFull()) state_->WriteGroup();
  if (!state_->ok) status_ = absl::UnavailableError("Parquet: it could not be written");
}

absl::Status ParquetFile::Finish() {
  if (!status_.ok()) return status_;
  state_->WriteGroup();
  std::string footer = state_->Footer();
  AppendNumber(footer.size(), 4, footer);
  state_->Write(footer);
  state_->Write(kMagic);
  if (!state_->ok) status_ = absl::UnavailableError("Parquet: it could not be written");
  return status_;
}

}  // namespace memoir
