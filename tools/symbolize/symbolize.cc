#include "tools/symbolize/symbolize.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/symbolize/debug_info.h"
#include "tools/symbolize/native_addresses.h"

namespace memoir {
namespace {

// The file that was loaded, here: by its build id, or where it has none by its path alone. "": it is not here.
std::string FileOf(const NativeObjectName& object, const std::vector<std::string>& folders) {
  std::vector<std::string> places = {object.path};
  for (const std::string& folder : folders)
    places.push_back(std::filesystem::path(folder) / std::filesystem::path(object.path).filename());
  for (const std::string& place : places) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(place, error)) continue;
    if (object.build_id.empty() || BuildIdOf(place) == object.build_id) return place;
  }
  return "";
}

std::string Problem(const NativeObjectName& object, bool is_here, std::size_t addresses, const std::string& why) {
  const std::string file = std::filesystem::path(object.path).filename();
  if (is_here) return absl::StrCat(file, ": ", addresses, " addresses have no names: ", why);
  return absl::StrCat(file, ": ", addresses, " addresses have no names: this build of it (",
                      object.build_id.empty() ? "no build id" : object.build_id.substr(0, 12),
                      ") is not here; give the folder of a copy with --objects, or set DEBUGINFOD_URLS");
}

}  // namespace

absl::StatusOr<Symbolized> Symbolize(const SymbolizeOptions& options) {
  const absl::StatusOr<NativeAddresses> objects = FindNativeAddresses(options.capture);
  if (!objects.ok()) return objects.status();
  if (objects->empty())
    return absl::NotFoundError(options.capture + ": no native frames; record them with `memoir run --stacks native`");
  Symbolized done;
  v1::Symbols symbols;
  for (const auto& [object, offsets] : *objects) {
    if (options.progress) options.progress(static_cast<double>(done.objects) / static_cast<double>(objects->size()));
    ++done.objects;
    done.addresses += offsets.size();
    const std::string file = FileOf(object, options.folders);
    const DebugInfo info(object, file);
    std::size_t named = 0;
    v1::SymbolObject& written = *symbols.add_object();
    written.set_path(object.path);
    written.set_build_id(object.build_id);
    for (const std::uint32_t offset : offsets) {
      const std::vector<v1::SymbolFunction> functions = info.FunctionsAt(offset);
      if (functions.empty()) continue;
      ++named;
      done.with_lines += functions.front().line() != 0;
      v1::SymbolAddress& address = *written.add_address();
      address.set_offset(offset);
      *address.mutable_function() = {functions.begin(), functions.end()};
    }
    done.named += named;
    if (named < offsets.size()) {
      const std::string why = info.problem().empty() ? "it has no symbols for them" : info.problem();
      done.problems.push_back(Problem(object, !file.empty() || info.problem().empty(), offsets.size() - named, why));
    }
  }
  const absl::Status status = WriteSymbols(options.capture, symbols);
  if (!status.ok()) return status;
  return done;
}

}  // namespace memoir
