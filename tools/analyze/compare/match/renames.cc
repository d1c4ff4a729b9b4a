#include "tools/analyze/compare/match/renames.h"

#include "absl/strings/str_cat.h"

namespace memoir {

std::optional<Rename> ParseRename(std::string_view text) {
  const std::size_t at = text.find('=');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  return Rename{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

std::string Renames::RenamePath(std::string_view path, char separator) {
  for (std::size_t i = 0; i < renames_.size(); ++i) {
    const std::string& from = renames_[i].from;
    const bool begins = path.starts_with(from) && (path.size() == from.size() || path[from.size()] == separator);
    if (!begins) continue;
    used_[i] = true;
    std::string_view rest = path.substr(from.size());
    if (renames_[i].to.empty() && !rest.empty()) rest.remove_prefix(1);
    return absl::StrCat(renames_[i].to, std::string(rest));
  }
  return std::string(path);
}

std::string Renames::RenameName(std::string_view name) {
  for (std::size_t i = 0; i < renames_.size(); ++i) {
    if (renames_[i].from != name) continue;
    used_[i] = true;
    return renames_[i].to;
  }
  return std::string(name);
}

std::string Renames::RenameFile(std::string_view file) {
  for (std::size_t i = 0; i < renames_.size(); ++i) {
    const std::string& from = renames_[i].from;
    const std::size_t at = file.rfind(from);
    if (at == std::string_view::npos) continue;
    const std::size_t end = at + from.size();
    const bool whole =
        (at == 0 || from.front() == '/' || file[at - 1] == '/') && (end == file.size() || file[end] == '/');
    if (!whole) continue;
    used_[i] = true;
    return absl::StrCat(std::string(file.substr(0, at)), renames_[i].to, std::string(file.substr(end)));
  }
  return std::string(file);
}

std::vector<Rename> Renames::UnusedRenames() const {
  std::vector<Rename> unused;
  for (std::size_t i = 0; i < renames_.size(); ++i) {
    if (!used_[i]) unused.push_back(renames_[i]);
  }
  return unused;
}

}  // namespace memoir
