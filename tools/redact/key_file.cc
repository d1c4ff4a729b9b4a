#include "tools/redact/key_file.h"

#include <fcntl.h>
#include <sodium/randombytes.h>
#include <sodium/utils.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/redact/name_hashes.h"

namespace memoir {
namespace {

constexpr std::size_t kMostKeyFileBytes = 4096;
constexpr std::size_t kMostNamesBytes = std::size_t{1} << 30;
constexpr std::size_t kFewestDigits = 4;  // of a shortened hash
constexpr char kFix[] = "; name another file with --key";

std::string NamesPath(const std::string& key_path) { return key_path + ".names"; }

absl::Status Errno(const std::string& path, const std::string& what) {
  return absl::UnavailableError(absl::StrCat(path, ": ", what, " (", std::strerror(errno), ")", kFix));
}

// Owns a file descriptor.
class OwnFile {
 public:
  explicit OwnFile(int descriptor) : descriptor_(descriptor) {}
  OwnFile(OwnFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnFile& operator=(OwnFile&&) = delete;
  ~OwnFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Checks that the file belongs to the caller and that others cannot read it.
absl::Status CheckOwner(int descriptor, const std::string& path) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return Errno(path, "cannot be checked");
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError(path + ": not a regular file" + kFix);
  if (status.st_uid != geteuid())
    return absl::FailedPreconditionError(path + ": belongs to another user, who would know the names" + kFix);
  if ((status.st_mode & 077) != 0)
    return absl::FailedPreconditionError(path + ": others may read it or write to it; keep it to yourself (chmod 600)");
  return absl::OkStatus();
}

absl::StatusOr<OwnFile> Open(const std::string& path) {
  OwnFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.descriptor() < 0) {
    if (errno == ENOENT) return absl::NotFoundError(path + ": no such file" + kFix);
    if (errno == ELOOP) return absl::FailedPreconditionError(path + ": a symbolic link; name the file itself");
    return Errno(path, "cannot be opened");
  }
  if (absl::Status own = CheckOwner(file.descriptor(), path); !own.ok()) return own;
  return file;
}

absl::StatusOr<std::string> ReadAll(int descriptor, const std::string& path, std::size_t most) {
  std::string bytes;
  std::vector<char> piece(1u << 16);
  for (;;) {
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Errno(path, "cannot be read");
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most) return absl::FailedPreconditionError(path + ": too large, so it is something else" + kFix);
  }
}

absl::Status WriteAll(int descriptor, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Errno(path, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(descriptor) == 0 ? absl::OkStatus() : Errno(path, "cannot be written");
}

// Writes a file that is complete as soon as it exists. AlreadyExists: another process was faster, and `replaces` is
// false.
absl::Status WriteWhole(const std::string& path, std::string_view bytes, bool replaces) {
  const std::string partial = absl::StrCat(path, ".partial-", getpid());
  unlink(partial.c_str());  // left by a killed process with the same id
  const OwnFile file(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.descriptor() < 0) return Errno(path, "cannot be made");
  absl::Status status = WriteAll(file.descriptor(), path, bytes);
  if (status.ok() && replaces && rename(partial.c_str(), path.c_str()) != 0) status = Errno(path, "cannot be written");
  if (status.ok() && !replaces && link(partial.c_str(), path.c_str()) != 0)
    status = errno == EEXIST ? absl::AlreadyExistsError(path) : Errno(path, "cannot be made");
  unlink(partial.c_str());
  return status;
}

std::string NewKey() {
  std::string key(kKeyBytes, '\0');
  randombytes_buf(key.data(), key.size());
  return key;
}

absl::StatusOr<std::string> ReadKey(const std::string& path) {
  const absl::StatusOr<OwnFile> file = Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> text = ReadAll(file->descriptor(), path, kMostKeyFileBytes);
  if (!text.ok()) return text;
  if (text->ends_with('\n')) text->pop_back();
  const bool digits = text->find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!digits || text->size() != 2 * kKeyBytes)
    return absl::FailedPreconditionError(path + ": not a key that memoir export redacted has made" + kFix);
  return absl::HexStringToBytes(*text);
}

// Returns the line of a name. Escapes newlines and tabs in the name.
std::string Line(const std::string& hash, const std::string& name) {
  return absl::StrCat(hash, "\t", absl::CHexEscape(name), "\n");
}

std::optional<std::pair<std::string, std::string>> Parse(std::string_view line) {
  const std::size_t tab = line.find('\t');
  std::string name;
  if (tab == std::string_view::npos ||
      !absl::CUnescape(absl::string_view(line.data() + tab + 1, line.size() - tab - 1), &name))
    return std::nullopt;
  return std::pair(std::string(line.substr(0, tab)), std::move(name));
}

constexpr std::string_view kCut = "…";

std::size_t DigitsAt(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789abcdef"), text.size());
}

// A hash in a text: whole, or shortened to its begin and end.
struct FoundHash {
  std::string_view start, end;  // "h_0123456789ab", ""; or "h_01", "89ab"
  std::size_t length = 0;       // in the text; 0: no hash was found
  bool is_whole() const { return start.size() == kHashLength; }
};

FoundHash HashAt(std::string_view text) {
  if (!text.starts_with(kHashStart)) return {};
  const std::size_t digits = DigitsAt(text.substr(kHashStart.size(), kHashDigits));
  FoundHash hash{text.substr(0, kHashStart.size() + digits), "", kHashStart.size() + digits};
  if (digits == kHashDigits) return hash;
  const std::string_view behind = text.substr(hash.length);
  if (!behind.starts_with(kCut)) return {};
  hash.end = behind.substr(kCut.size(), DigitsAt(behind.substr(kCut.size(), kHashDigits)));
  if (!hash.end.empty()) hash.length += kCut.size() + hash.end.size();
  return digits + hash.end.size() >= kFewestDigits && digits + hash.end.size() < kHashDigits ? hash : FoundHash{};
}

// Returns the name if only one name matches the hash. Otherwise nullptr.
const std::string* Find(const FoundHash& hash, const HashedNames& names) {
  const std::string* found = nullptr;
  for (auto name = names.lower_bound(std::string(hash.start)); name != names.end(); ++name) {
    if (!name->first.starts_with(hash.start)) break;
    if (!name->first.ends_with(hash.end)) continue;
    if (found != nullptr) return nullptr;
    found = &name->second;
  }
  return found;
}

}  // namespace

std::string UsualKeyPath() {
  const char* const folder = std::getenv("XDG_CONFIG_HOME");
  if (folder != nullptr && *folder == '/') return absl::StrCat(folder, "/memoir/redact.key");
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? absl::StrCat(home, "/.config/memoir/redact.key") : "";
}

absl::StatusOr<std::string> ReadOrMakeKey(const std::string& path) {
  absl::StatusOr<std::string> key = ReadKey(path);
  if (!absl::IsNotFound(key.status())) return key;
  if (path == UsualKeyPath()) {
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::filesystem::create_directories(folder.parent_path(), ignored);
    mkdir(folder.c_str(), 0700);
  }
  const std::string text = absl::StrCat(absl::BytesToHexString(NewKey()), "\n");
  const absl::Status made = WriteWhole(path, text, false);
  if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  return ReadKey(path);  // the key of this process, or of a faster process
}

absl::StatusOr<HashedNames> ReadNames(const std::string& key_path) {
  const std::string path = NamesPath(key_path);
  const absl::StatusOr<OwnFile> file = Open(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::string> text = ReadAll(file->descriptor(), path, kMostNamesBytes);
  if (!text.ok()) return text.status();
  HashedNames names;
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    if (auto name = Parse({line.data(), line.size()})) names.insert(*std::move(name));
  }
  return names;
}

absl::Status KeepNames(const std::string& key_path, const HashedNames& names) {
  const absl::StatusOr<OwnFile> key = Open(key_path);
  if (!key.ok()) return key.status();
  if (flock(key->descriptor(), LOCK_EX) != 0) return Errno(key_path, "cannot be locked");
  absl::StatusOr<HashedNames> all = ReadNames(key_path);
  if (!all.ok() && !absl::IsNotFound(all.status())) return all.status();
  if (!all.ok()) all = HashedNames();
  const std::size_t before = all->size();
  all->insert(names.begin(), names.end());
  if (all->size() == before) return absl::OkStatus();
  std::string text;
  for (const auto& [hash, name] : *all) text += Line(hash, name);
  return WriteWhole(NamesPath(key_path), text, true);
}

RevealedText Reveal(std::string_view text, const HashedNames& names) {
  RevealedText revealed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = std::min(text.find(kHashStart, at), text.size());
    revealed.text += text.substr(at, found - at);
    at = found;
    const FoundHash hash = HashAt(text.substr(at));
    const std::string* const name = hash.length == 0 ? nullptr : Find(hash, names);
    if (hash.is_whole() && name == nullptr) ++revealed.unknown;
    const std::size_t taken = hash.length == 0 ? std::min(std::size_t{1}, text.size() - at) : hash.length;
    revealed.text += name == nullptr ? std::string(text.substr(at, taken)) : *name;
    at += taken;
  }
  return revealed;
}

}  // namespace memoir
