// The sections of a report's page: columns of whole numbers, compressed, as text that HTML takes as it is.
//
// A number is a LEB128 varint; a difference is zigzag-coded first. tools/web/src/payload.ts reads them.
#ifndef TOOLS_VIEW_REPORT_SECTION_H_
#define TOOLS_VIEW_REPORT_SECTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

class ColumnWriter {
 public:
  void Number(std::uint64_t value);
  // A column whose neighbours are alike.
  void Differences(const std::vector<std::uint64_t>& values);
  // A column in which few values come often: those first, the most frequent before the others, then where each is.
  void Repeated(const std::vector<std::uint64_t>& values);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Section {
  std::string name;
  std::string content;  // base64 of raw deflate
};

// As deflate and base64 have it.
Section MakeSection(std::string name, std::string_view bytes);

std::string Base64(std::string_view bytes);

}  // namespace memoir

#endif  // TOOLS_VIEW_REPORT_SECTION_H_
