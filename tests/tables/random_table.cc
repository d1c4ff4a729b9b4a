// A table of random columns and rows, as the exports' writers write it, and what is in it:
//
//     random_table SEED ROWS arrow|parquet FILE [LONGEST TEXT]
//
// It prints its columns and then its rows as JSON, a line each. The values are those that formats treat in their own
// way: runs of one value, all NULL, no NULL, the largest numbers, one text and a hundred thousand.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/view/database/arrow_file.h"
#include "tools/view/database/parquet_file.h"

namespace memoir {
namespace {

class RandomColumn {
 public:
  RandomColumn(ColumnType type, std::uint64_t longest, std::mt19937_64& random)
      : type_(type), longest_(longest), random_(random) {
    const unsigned nulls[] = {0, 0, 10, 50, 99, 100};
    null_percent_ = type == ColumnType::kKey ? 0 : nulls[random() % 6];
    const std::uint64_t ranges[] = {1, 2, 5, 300, 100'000, ~std::uint64_t{0}};
    range_ = ranges[random() % 6];
    const std::uint64_t runs[] = {1, 1, 3, 8, 9, 1000};
    run_ = runs[random() % 6];
  }

  CellValue Next() {
    if (left_ == 0) {
      left_ = 1 + random_() % run_;
      is_null_ = random_() % 100 < null_percent_;
      number_ = range_ == ~std::uint64_t{0} ? random_() : random_() % range_;
      if (type_ == ColumnType::kNumber || type_ == ColumnType::kKey) number_ >>= 1U;
      text_ = Text(number_);
    }
    --left_;
    if (is_null_) return {};
    return type_ == ColumnType::kText ? CellValue(std::string_view(text_)) : CellValue(number_);
  }

 private:
  std::string Text(std::uint64_t number) const {
    const std::string_view marks[] = {"", "\"", "'", "\n", "\\", ",", "\U0001F525", "模型", "\x01", "é"};
    return number % 17 == 0
               ? std::string(marks[number % 10])
               : std::string(marks[number % 10]) + std::to_string(number) + std::string(number % longest_, 'x');
  }

  ColumnType type_;
  std::uint64_t longest_;  // bytes of a text, about
  std::mt19937_64& random_;
  unsigned null_percent_ = 0;
  std::uint64_t range_ = 1, run_ = 1, left_ = 0, number_ = 0;
  bool is_null_ = false;
  std::string text_;
};

nlohmann::json JsonOf(const CellValue& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  return nullptr;
}

template <class File>
bool Fill(File& file, std::vector<RandomColumn>& columns, std::uint64_t rows) {
  std::vector<CellValue> row(columns.size());
  for (std::uint64_t i = 0; i < rows; ++i) {
    auto json = nlohmann::json::array();
    for (std::size_t at = 0; at < columns.size(); ++at) json.push_back(JsonOf(row[at] = columns[at].Next()));
    std::cout << json.dump() << '\n';
    file.Insert(row);
  }
  return file.Finish().ok();
}

bool Write(std::uint64_t seed, std::uint64_t rows, bool is_parquet, const std::string& path, std::uint64_t longest) {
  std::mt19937_64 random(seed);
  std::deque<std::string> names;
  std::vector<TableColumn> columns;
  std::vector<RandomColumn> values;
  auto json = nlohmann::json::array();
  for (std::size_t i = 0; i < 1 + seed % 20; ++i) {
    const auto type = static_cast<ColumnType>(random() % 4);
    columns.push_back({names.emplace_back("c" + std::to_string(i)), type});
    values.emplace_back(type, longest, random);
    json.push_back({columns.back().name, type == ColumnType::kText   ? "string"
                                         : type == ColumnType::kWide ? "uint64"
                                                                     : "int64"});
  }
  std::cout << json.dump() << '\n';
  std::ofstream out(path, std::ios::binary);
  const auto write = [&](std::string_view bytes) { return static_cast<bool>(out << bytes); };
  if (is_parquet) {
    ParquetFile file(columns, write);
    return Fill(file, values, rows);
  }
  ArrowFile file(columns, ArrowFile::Form::kFile, write);
  return Fill(file, values, rows);
}

}  // namespace
}  // namespace memoir

int main(int count, char** words) {
  if (count != 5 && count != 6) return 2;
  const std::uint64_t longest = count == 6 ? std::strtoull(words[5], nullptr, 10) : 40;
  const std::string_view form = words[3];
  return memoir::Write(std::strtoull(words[1], nullptr, 10), std::strtoull(words[2], nullptr, 10), form == "parquet",
                       words[4], longest)
             ? 0
             : 1;
}
