#include "tools/read/symbols.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "tools/read/regular_file.h"
#include "tools/read/replaced_file.h"

namespace memoir {
namespace {

constexpr std::string_view kMark = "\177ELF";  // the begin of a code name that represents a native object

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
  const std::string path = SymbolsPath(capture);
  std::string bytes;
  if (!symbols.SerializeToString(&bytes) || bytes.size() > kMostSymbolBytes)
    return absl::ResourceExhaustedError(absl::StrCat(path, ": the names would take more than ", kMostSymbolBytes >> 20,
                                                     " MiB, and are not written; name a part of the capture alone"));
  RemovePartial(path);
  return ReplaceFile(path, bytes);
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
  std::ranges::sort(others);  // so that equal names result in equal files
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
