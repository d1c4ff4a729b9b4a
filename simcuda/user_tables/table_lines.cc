#include "simcuda/user_tables/table_lines.h"

namespace memoir::simcuda {

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool TableLines::Next() {
  while (!rest_.empty()) {
    const auto newline = rest_.find('\n');
    line_ = rest_.substr(0, newline);
    rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
    ++number_;
    line_ = Trimmed(line_.substr(0, line_.find('#')));
    if (!line_.empty()) return true;
  }
  return false;
}

bool TableLines::Split(std::string_view& left, std::string_view& right) const {
  const auto equals = line_.find('=');
  if (equals == std::string_view::npos) return false;
  left = Trimmed(line_.substr(0, equals));
  right = Trimmed(line_.substr(equals + 1));
  return true;
}

}  // namespace memoir::simcuda
