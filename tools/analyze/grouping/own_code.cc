#include "tools/analyze/grouping/own_code.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memoir {
namespace {

// Calls `take` with each name in a path until `take` returns true. Returns false if `take` never returned true.
template <class Take>
bool AnyPart(std::string_view path, Take take) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (take(path.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

// Returns true for "python3.12", "python3", "python312.zip". A folder or archive of such a name in "lib" is the
// standard library.
bool IsPythonFolder(std::string_view part) {
  if (!part.starts_with("python")) return false;
  part.remove_prefix(6);
  if (part.ends_with(".zip")) part.remove_suffix(4);
  return !part.empty() && part.find_first_not_of("0123456789.t") == std::string_view::npos;  // 3.13t: without the GIL
}

// Returns true for the names of files and folders in the folder "torch" of torch's package. With these names, torch's
// code is found even if torch was built and not installed.
bool IsOfTorch(std::string_view part) {
  constexpr std::array<std::string_view, 9> kParts = {"nn",  "autograd",      "optim",        "utils", "distributed",
                                                      "jit", "functional.py", "overrides.py", "fx"};
  return part.starts_with('_') || std::ranges::find(kParts, part) != kParts.end();
}

// Returns true for files of inductor's cache, in any folder: "/tmp/torchinductor_me/nd/cndgu4alhwtwbcn….py". The name
// is 'c' and the hash of the code; the name of the folder is the first two letters of the hash.
bool IsOfInductor(std::string_view file) {
  constexpr std::size_t kName = 52;
  if (!file.ends_with(".py")) return false;
  file.remove_suffix(3);
  if (file.size() < kName + 4) return false;
  const std::string_view name = file.substr(file.size() - kName);
  const std::string_view around = file.substr(file.size() - kName - 4, 4);
  const bool hash = std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
  return hash && name.front() == 'c' && around.front() == '/' && around.back() == '/' &&
         around.substr(1, 2) == name.substr(1, 2);
}

bool IsLibraryFile(std::string_view file) {
  if (IsOfInductor(file)) return true;
  if (file.find("/lib/memoir/python/") != std::string_view::npos) return true;  // Memoir's own package
  std::string_view before;
  return AnyPart(file, [&](std::string_view part) {
    if (part == "site-packages" || part == "dist-packages") return true;
    if ((before == "lib" || before == "lib64") && IsPythonFolder(part)) return true;
    if (before == "torch" && IsOfTorch(part)) return true;
    if (part.starts_with("torchinductor_")) return true;  // code that inductor generated
    before = part;
    return false;
  });
}

// Returns true for "<frozen importlib._bootstrap>" and for code that torch.fx and attrs generate. Other names in "<>"
// belong to the program: "<string>" of exec(), "<stdin>", "<ipython-input-3-...>".
bool IsMadeByLibrary(std::string_view file) {
  constexpr std::array<std::string_view, 4> kStarts = {"<frozen ", "<eval_with_key>", "<attrs generated ",
                                                       "<__array_function__"};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return file.starts_with(start); });
}

// Returns true for "/usr/lib/x86_64-linux-gnu/libc.so.6", "linux-vdso.so.1", and the copies of such libraries in the
// folder "lib" of conda.
bool IsSystemLibrary(std::string_view path) {
  constexpr std::array<std::string_view, 4> kFolders = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
  constexpr std::array<std::string_view, 9> kRuntimes = {"libstdc++.", "libgcc_s", "libgomp",     "libomp", "libiomp",
                                                         "libpython",  "libmkl",   "libopenblas", "libffi"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const bool is_library = path.ends_with(".so") || path.find(".so.") != std::string_view::npos;
  const auto begins = [](std::string_view text) {
    return [text](std::string_view start) { return text.starts_with(start); };
  };
  return is_library && (name == path || std::ranges::any_of(kFolders, begins(path)) ||
                        (path.find("/lib/") != std::string_view::npos && std::ranges::any_of(kRuntimes, begins(name))));
}

// Returns true for headers of the system, the C++ library, torch or Memoir. The templates and inline functions in such
// headers are compiled into programs.
bool IsHeader(std::string_view source) {
  constexpr std::array<std::string_view, 3> kFolders = {"/include/c++/", "/torch/include/", "/include/memoir/"};
  return source.starts_with("/usr/include/") || source.starts_with("/usr/lib/") ||
         std::ranges::any_of(kFolders, [&](std::string_view folder) { return source.find(folder) != source.npos; });
}

bool EndsPart(std::string_view file, std::size_t at) { return at == file.size() || file[at] == '/'; }

}  // namespace

OwnCode::OwnCode(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  path_ = path;
}

bool OwnCode::IsNamed(std::string_view file) const {
  if (path_ == "/" && file.starts_with('/')) return true;
  for (std::size_t at = path_.empty() ? std::string_view::npos : file.find(path_); at != std::string_view::npos;
       at = file.find(path_, at + 1)) {
    const bool begins = at == 0 || (file[at - 1] == '/' && !path_.starts_with('/'));
    if (begins && EndsPart(file, at + path_.size())) return true;
  }
  return false;
}

CodeOwner OwnCode::OwnerOfNative(std::string_view object, std::string_view source) const {
  if (IsNamed(object) || IsNamed(source)) return CodeOwner::kNamed;
  const bool library = IsSystemLibrary(object) || IsLibraryFile(object) || IsLibraryFile(source) || IsHeader(source);
  return library ? CodeOwner::kLibrary : CodeOwner::kProgram;
}

CodeOwner OwnCode::OwnerOf(std::string_view file) const {
  if (IsNamed(file)) return CodeOwner::kNamed;
  return IsMadeByLibrary(file) || IsLibraryFile(file) ? CodeOwner::kLibrary : CodeOwner::kProgram;
}

}  // namespace memoir
