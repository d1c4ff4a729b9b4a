#include "tools/read/symbols.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

constexpr std::string_view kMark = "\177ELF";  // of a name of code that is none of Python's

constexpr auto kOwnersAlone = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

const std::string& KeyOf(const NativeObjectName& object) {
  return object.build_id.empty() ? object.path : object.build_id;
}

}  // namespace

bool IsNativeObject(const std::string& code_text) { return code_text.starts_with(kMark); }

NativeObjectName NativeObjectOf(const std::string& code_file, const std::string& code_text) {
  return {code_file, code_text.substr(kMark.size())};
}

std::string SymbolsPath(const std::string& capture) {
  std::error_code error;
  const std::filesystem::path path(capture);
  return (std::filesystem::is_directory(path, error) ? path : path.parent_path()) / "symbols.memoir-symbols";
}

absl::Status WriteSymbols(const std::string& capture, const v1::Symbols& symbols) {
  const std::string path = SymbolsPath(capture), partial = absl::StrCat(path, ".partial-", getpid());
  const auto failed = [&](int error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(error)));
  };
  {
    std::ofstream file(partial, std::ios::binary);
    std::error_code ignored;
    std::filesystem::permissions(partial, kOwnersAlone, ignored);  // as the parts
    if (!file || !symbols.SerializeToOstream(&file) || !file.flush()) return failed(errno);
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  return error ? failed(error.value()) : absl::OkStatus();
}

absl::StatusOr<Symbols> Symbols::Read(const std::string& capture) {
  Symbols read;
  const std::string path = SymbolsPath(capture);
  std::ifstream file(path, std::ios::binary);
  if (!file) return read;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  v1::Symbols symbols;
  if (!symbols.ParseFromString(bytes))
    return absl::InvalidArgumentError("names of native frames are damaged; memoir symbolize writes them again");
  for (const v1::SymbolObject& object : symbols.object()) {
    const std::string& key = object.build_id().empty() ? object.path() : object.build_id();
    for (const v1::SymbolAddress& address : object.address())
      read.functions_[{key, address.offset()}] = {address.function().begin(), address.function().end()};
  }
  return read;
}

const std::vector<v1::SymbolFunction>* Symbols::Find(const NativeObjectName& object, std::uint32_t offset) const {
  const auto found = functions_.find(std::pair(KeyOf(object), offset));
  return found == functions_.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace memoir
