#include "tools/cli/installed/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "fmt/format.h"

namespace memoir {
namespace {

// A whole mapped file. Only some pages are read, because torch's libraries have gigabytes.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      const auto bytes = static_cast<std::size_t>(status.st_size);
      void* const got = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (got != MAP_FAILED) bytes_ = {static_cast<const char*>(got), bytes};
    }
    error_ = errno;
    if (file >= 0) close(file);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }
  int error() const { return error_; }

 private:
  std::string_view bytes_;
  int error_ = 0;
};

// Returns `count` objects of type T at `offset`. nullopt if the file is too short, or `offset` is not aligned.
template <typename T>
std::optional<std::span<const T>> At(std::string_view bytes, std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T) || offset % alignof(T) != 0)
    return std::nullopt;
  return std::span<const T>(reinterpret_cast<const T*>(bytes.data() + offset), count);
}

std::optional<std::span<const Elf64_Shdr>> Sections(std::string_view bytes) {
  const auto header = At<Elf64_Ehdr>(bytes, 0, 1);
  if (!header) return std::nullopt;
  const Elf64_Ehdr& elf = header->front();
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  return At<Elf64_Shdr>(bytes, elf.e_shoff, elf.e_shnum);
}

std::optional<DynamicSymbols> Read(std::string_view bytes, bool (*keep)(std::string_view name)) {
  const auto sections = Sections(bytes);
  if (!sections) return std::nullopt;
  DynamicSymbols found;
  bool any = false;
  for (const Elf64_Shdr& section : *sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    any = true;
    const auto symbols = At<Elf64_Sym>(bytes, section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    if (!symbols || section.sh_link >= sections->size()) return std::nullopt;
    const Elf64_Shdr& strings = (*sections)[section.sh_link];
    const auto names = At<char>(bytes, strings.sh_offset, strings.sh_size);
    if (!names || names->empty() || names->back() != '\0') return std::nullopt;
    for (const Elf64_Sym& symbol : *symbols) {
      if (symbol.st_name >= names->size()) return std::nullopt;
      const std::string_view name = names->data() + symbol.st_name;
      if (keep(name)) (symbol.st_shndx == SHN_UNDEF ? found.wanted : found.defined).emplace(name);
    }
  }
  return any ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace

absl::StatusOr<DynamicSymbols> ReadDynamicSymbols(const std::string& path, bool (*keep)(std::string_view name)) {
  const MappedFile file(path);
  if (file.bytes().empty())
    return absl::NotFoundError(fmt::format("cannot read {}: {}", path, std::strerror(file.error())));
  auto found = Read(file.bytes(), keep);
  if (!found) return absl::DataLossError(path + " is no 64-bit ELF library, or a damaged one");
  return *std::move(found);
}

}  // namespace memoir
