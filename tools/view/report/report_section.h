// The sections of a report's page: columns of integers, compressed, as text that needs no escapes in HTML.
//
// A number is a LEB128 varint. A difference is zigzag-coded first. tools/web/src/report/payload.ts decodes them.
#ifndef TOOLS_VIEW_REPORT_REPORT_SECTION_H_
#define TOOLS_VIEW_REPORT_REPORT_SECTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

class ColumnWriter {
 public:
  void Number(std::uint64_t value);
  // Adds a column in which neighbouring values are similar.
  void Differences(const std::vector<std::uint64_t>& values);
  // Adds a column with few different values: first these values, the most frequent first, then an index for each row.
  void Repeated(const std::vector<std::uint64_t>& values);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct ReportSection {
  std::string name;
  std::string content;  // base64 of raw deflate data
};

// Compresses and encodes the bytes.
ReportSection MakeSection(std::string name, std::string_view bytes);

std::string Base64(std::string_view bytes);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_REPORT_SECTION_H_
