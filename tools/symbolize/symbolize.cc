#include "tools/symbolize/symbolize.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/symbolize/debug_info.h"
#include "tools/symbolize/native_addresses.h"
#include "tools/symbolize/object_file.h"

namespace memoir {
namespace {

// Returns a line about addresses without names. `why`: the problem with the object's file. Empty if this machine does
// not have the file.
std::string Problem(const NativeObjectName& object, const std::string& others, std::size_t addresses,
                    const std::string& why) {
  const std::string file = std::filesystem::path(object.path).filename();
  const std::string build = object.build_id.empty() ? "no build id" : object.build_id.substr(0, 12);
  return absl::StrCat(file, ": ", addresses, addresses == 1 ? " address has no name: " : " addresses have no names: ",
                      !why.empty() ? why : absl::StrCat("this build of it (", build, ") is not here"),
                      others.empty() ? "" : absl::StrCat("; ", others),
                      !why.empty() ? "" : "; give the folder of a copy with --objects, or set DEBUGINFOD_URLS");
}

// Opens the object. If the debuginfod servers took more than 5 seconds and sent no source lines, prevents further
// requests.
DebugInfo Open(const NativeObjectName& object, ObjectFile file, std::vector<std::string>& problems) {
  constexpr std::chrono::seconds kPatience(5);
  const auto begin = std::chrono::steady_clock::now();
  DebugInfo info(object, std::move(file));
  const bool asked = getenv("DEBUGINFOD_URLS") != nullptr && !info.has_lines();
  if (asked && std::chrono::steady_clock::now() - begin > kPatience) {
    unsetenv("DEBUGINFOD_URLS");  // NOLINT(concurrency-mt-unsafe): the program has one thread
    problems.push_back("the servers of DEBUGINFOD_URLS do not answer, and no further request is sent");
  }
  return info;
}

// Adds the names of one object's addresses to `written`. The names come from the object's file, or from an earlier
// `memoir symbolize`. Returns the number of addresses with a name.
std::size_t Name(const NativeObjectName& object, const std::set<std::uint32_t>& offsets, const DebugInfo& info,
                 const Symbols& earlier, const std::function<void()>& next, v1::SymbolObject& written) {
  std::size_t named = 0;
  for (const std::uint32_t offset : offsets) {
    next();
    std::vector<v1::SymbolFunction> functions = info.FunctionsAt(offset);
    const std::vector<v1::SymbolFunction>* known = functions.empty() ? earlier.Find(object, offset) : nullptr;
    if (known != nullptr) functions = *known;
    if (functions.empty()) continue;
    ++named;
    v1::SymbolAddress& address = *written.add_address();
    address.set_offset(offset);
    *address.mutable_function() = {functions.begin(), functions.end()};
  }
  return named;
}

bool HasLine(const v1::SymbolAddress& address) { return address.function(0).line() != 0; }

}  // namespace

absl::StatusOr<SymbolizeResult> Symbolize(const SymbolizeOptions& options) {
  const absl::StatusOr<NativeAddresses> objects = FindNativeAddresses(options.capture);
  if (!objects.ok()) return objects.status();
  if (objects->empty())
    return absl::NotFoundError(options.capture + ": no native frames; record them with `memoir run --stacks native`");
  SymbolizeResult done;
  v1::Symbols symbols;
  std::size_t all = 0, seen = 0;
  for (const auto& [object, offsets] : *objects) all += offsets.size();
  const auto progress = [&] {
    if (options.progress) options.progress(static_cast<double>(seen) / static_cast<double>(all));
  };
  const auto next = [&] {
    ++seen;
    progress();
  };
  const Symbols earlier = Symbols::Read(options.capture).value_or(Symbols());  // a damaged file is replaced
  // NOLINTBEGIN(concurrency-mt-unsafe): the program has one thread
  setenv("DEBUGINFOD_TIMEOUT", "5", 0);  // seconds without an answer; the default is 90
  setenv("DEBUGINFOD_RETRY_LIMIT", "1", 0);
  // NOLINTEND(concurrency-mt-unsafe)
  for (const auto& [object, offsets] : *objects) {
    ++done.objects;
    done.addresses += offsets.size();
    ObjectFile file = FindObjectFile(object, options.folders);
    const bool is_here = file.file.has_value();
    const std::string others = file.others;
    progress();  // opening the object may wait for a server
    const DebugInfo info = Open(object, std::move(file), done.problems);
    v1::SymbolObject& written = *symbols.add_object();
    written.set_path(object.path);
    written.set_build_id(object.build_id);
    const std::size_t named = Name(object, offsets, info, earlier, next, written);
    done.named += named;
    done.with_lines += static_cast<std::size_t>(std::ranges::count_if(written.address(), HasLine));
    if (named < offsets.size()) {
      const std::string why = info.problem().empty() ? "it has no symbols for them" : is_here ? info.problem() : "";
      done.problems.push_back(Problem(object, others, offsets.size() - named, why));
    }
  }
  // If the capture is a single part, the addresses of other parts keep their earlier names.
  std::error_code error;
  if (!std::filesystem::is_directory(options.capture, error)) earlier.AddOthersTo(symbols);
  const absl::Status status = WriteSymbols(options.capture, symbols);
  if (!status.ok()) return status;
  return done;
}

}  // namespace memoir
