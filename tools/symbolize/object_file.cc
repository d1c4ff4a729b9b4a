#include "tools/symbolize/object_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

// Returns true for an ELF file. Other files are refused, because libdwfl would decompress them, whatever their size.
bool IsElf(const RegularFile& file) {
  const absl::StatusOr<std::string> begin = file.Read(SELFMAG);
  return begin.ok() && *begin == std::string_view(ELFMAG, SELFMAG);
}

// Describes why the file does not match this object; empty if it matches.
std::string Difference(const NativeObjectName& object, const RegularFile& file) {
  if (!IsElf(file)) return "is no library or program";
  const std::string id = BuildIdOf(file);
  if (object.build_id.empty() || id == object.build_id) return "";
  return id.empty() ? "is another build" : absl::StrCat("is another build (", id.substr(0, 12), ")");
}

}  // namespace

bool IsBuildId(const std::string& text) {
  constexpr std::size_t kLeast = 6, kMost = 128;  // number of digits that libdwfl accepts
  return text.size() >= kLeast && text.size() <= kMost && text.size() % 2 == 0 &&
         std::ranges::all_of(text, [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); });
}

std::string BuildIdOf(const RegularFile& file) {
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(file.descriptor(), ELF_C_READ, nullptr);
  const void* id = nullptr;
  const ssize_t size = elf == nullptr ? 0 : dwelf_elf_gnu_build_id(elf, &id);
  std::string text =
      size > 0 ? absl::BytesToHexString({static_cast<const char*>(id), static_cast<std::size_t>(size)}) : "";
  elf_end(elf);
  return text;
}

ObjectFile FindObjectFile(const NativeObjectName& object, const std::vector<std::string>& folders) {
  std::vector<std::string> places = {object.path};
  for (const std::string& folder : folders)
    places.push_back(std::filesystem::path(folder) / std::filesystem::path(object.path).filename());
  ObjectFile found;
  for (const std::string& place : places) {
    absl::StatusOr<RegularFile> file = RegularFile::Open(place);
    if (absl::IsNotFound(file.status())) continue;
    const std::string why =
        file.ok() ? Difference(object, *file) : absl::StrCat("cannot be read (", file.status().message(), ")");
    if (why.empty()) return {place, *std::move(file), ""};
    absl::StrAppend(&found.others, found.others.empty() ? "" : ", ", place, " ", why);
  }
  return found;
}

}  // namespace memoir
