#include "tools/read/symbols.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "tools/read/regular_file.h"

namespace memoir {
namespace {

constexpr std::string_view kMark = "\177ELF";  // of a name of code that is none of Python's

constexpr char kPartial[] = ".partial-";  // and the process that writes it

const std::string& KeyOf(const NativeObjectName& object) {
  return object.build_id.empty() ? object.path : object.build_id;
}

// What processes have left that were killed while they wrote: nobody has it locked any more.
void RemoveStale(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string stem = absl::StrCat(file.filename().string(), kPartial);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(stem) || it->is_symlink(error)) continue;
    const absl::StatusOr<RegularFile> partial = RegularFile::Open(it->path());
    if (partial.ok() && flock(partial->descriptor(), LOCK_EX | LOCK_NB) == 0) unlink(it->path().c_str());
  }
}

// Locked, so that to others it is not stale, until it is closed. One that looked before it was locked has removed it:
// then another is made. -1, and errno.
int OpenPartial(const std::string& path) {
  for (;;) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);  // as the parts
    if (file >= 0) flock(file, LOCK_EX);
    struct stat now;
    if (file < 0 || fstat(file, &now) != 0 || now.st_nlink != 0) return file;
    close(file);
  }
}

// 0, or errno.
int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

const char* Fix(int error) {
  switch (error) {
    case EISDIR:
    case ENOTDIR:
      return "; a folder has its place, remove that";
    case ENOSPC:
    case EDQUOT:
      return "; make room there";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; copy the capture to where you may write";
    default:
      return "";
  }
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
  const std::string path = SymbolsPath(capture);
  std::string bytes;
  if (!symbols.SerializeToString(&bytes) || bytes.size() > kMostSymbolBytes)
    return absl::ResourceExhaustedError(absl::StrCat(path, ": the names would take more than ", kMostSymbolBytes >> 20,
                                                     " MiB, and are not written; name a part of the capture alone"));
  RemoveStale(path);
  const std::string partial = absl::StrCat(path, kPartial, getpid());
  const int file = OpenPartial(partial);
  int error = file < 0 ? errno : 0;
  if (file >= 0) {
    error = WriteAll(file, bytes);
    if (error == 0 && std::rename(partial.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(partial.c_str());
    close(file);
  }
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(error), Fix(error)));
}

absl::StatusOr<Symbols> Symbols::Read(const std::string& capture) {
  const absl::StatusOr<RegularFile> file = RegularFile::Open(SymbolsPath(capture));
  if (absl::IsNotFound(file.status())) return Symbols();
  if (!file.ok())
    return absl::InvalidArgumentError(
        absl::StrCat("names of native frames cannot be read (", file.status().message(), "); remove it"));
  if (file->bytes() > kMostSymbolBytes)
    return absl::InvalidArgumentError(absl::StrCat("names of native frames are not read: larger than ",
                                                   kMostSymbolBytes >> 20, " MiB; memoir symbolize writes them again"));
  const absl::StatusOr<std::string> bytes = file->Read(kMostSymbolBytes);
  v1::Symbols symbols;
  if (!bytes.ok() || bytes->empty() || !symbols.ParseFromString(*bytes))
    return absl::InvalidArgumentError("names of native frames are damaged; memoir symbolize writes them again");
  Symbols read;
  for (v1::SymbolObject& object : *symbols.mutable_object()) {
    const NativeObjectName name{object.path(), object.build_id()};
    const auto number = static_cast<std::uint32_t>(read.objects_.size());
    const auto [entry, is_new] = read.objects_.try_emplace(KeyOf(name), number);
    if (is_new) read.names_.push_back(name);
    const std::uint32_t known = entry->second;
    for (v1::SymbolAddress& address : *object.mutable_address()) {
      if (address.function().empty()) continue;
      const auto begin = std::make_move_iterator(address.mutable_function()->begin());
      const int count = std::min(address.function_size(), kMostInlinedFunctions);
      read.functions_[{known, address.offset()}] = {begin, begin + count};
    }
  }
  return read;
}

const std::vector<v1::SymbolFunction>* Symbols::Find(const NativeObjectName& object, std::uint32_t offset) const {
  const auto known = objects_.find(KeyOf(object));
  if (known == objects_.end()) return nullptr;
  const auto found = functions_.find(std::pair(known->second, offset));
  return found == functions_.end() ? nullptr : &found->second;
}

void Symbols::AddOthersTo(v1::Symbols& symbols) const {
  absl::flat_hash_map<std::uint32_t, v1::SymbolObject*> written;
  absl::flat_hash_set<std::pair<std::uint32_t, std::uint32_t>> named;
  for (v1::SymbolObject& object : *symbols.mutable_object()) {
    const auto known = objects_.find(KeyOf({object.path(), object.build_id()}));
    if (known == objects_.end()) continue;
    written[known->second] = &object;
    for (const v1::SymbolAddress& address : object.address()) named.emplace(known->second, address.offset());
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> others;
  for (const auto& [place, functions] : functions_) {
    if (!named.contains(place)) others.push_back(place);
  }
  std::ranges::sort(others);  // the same file from the same names
  for (const auto& place : others) {
    v1::SymbolObject*& object = written[place.first];
    if (object == nullptr) {
      object = symbols.add_object();
      object->set_path(names_[place.first].path);
      object->set_build_id(names_[place.first].build_id);
    }
    v1::SymbolAddress& address = *object->add_address();
    address.set_offset(place.second);
    const std::vector<v1::SymbolFunction>& functions = functions_.at(place);
    *address.mutable_function() = {functions.begin(), functions.end()};
  }
}

}  // namespace memoir
