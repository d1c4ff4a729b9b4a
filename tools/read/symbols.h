// Reads and writes the file with the names of native frames, which `memoir symbolize` stores in the capture folder.
#ifndef TOOLS_READ_SYMBOLS_H_
#define TOOLS_READ_SYMBOLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memoir/v1/symbols.pb.h"

namespace memoir {

// A native object: a library or program with recorded frames. In the capture, it is a code name. The file of this name
// is the path, and its text is a mark and the build id (docs/capture_format.md).
struct NativeObjectName {
  std::string path;
  std::string build_id;  // hexadecimal digits; empty if it has no build id
  auto operator<=>(const NativeObjectName&) const = default;
};
// Returns true if a code name represents a native object.
bool IsNativeObject(const std::string& code_text);
NativeObjectName NativeObjectOf(const std::string& code_file, const std::string& code_text);

// Returns the path of symbols.memoir-symbols in the capture folder. `capture` may also be the path of one part.
std::string SymbolsPath(const std::string& capture);
// Replaces the file atomically, and removes partial files of killed writers. Error messages contain the remedy.
absl::Status WriteSymbols(const std::string& capture, const v1::Symbols& symbols);
// The size limit of the file. A larger file is neither written nor read. A training program has a few thousand
// addresses, with about 200 bytes for each address.
inline constexpr std::uint64_t kMostSymbolBytes = std::uint64_t{32} << 20;
// The limit of functions for one address. Further outer functions are omitted.
inline constexpr int kMostInlinedFunctions = 256;

class Symbols {
 public:
  // Returns an empty object if the file does not exist. InvalidArgument: the file is damaged, or is no file of symbols;
  // the message has no path.
  static absl::StatusOr<Symbols> Read(const std::string& capture);

  // Returns the functions at an address, innermost first. nullptr if they are unknown.
  const std::vector<v1::SymbolFunction>* Find(const NativeObjectName& object, std::uint32_t offset) const;
  // Adds to `symbols` the addresses of this Symbols object that `symbols` lacks.
  void AddOthersTo(v1::Symbols& symbols) const;
  bool empty() const { return functions_.empty(); }

 private:
  absl::flat_hash_map<std::string, std::uint32_t> objects_;  // by build id; by path if the object has no build id
  std::vector<NativeObjectName> names_;                      // by object
  // By object and offset.
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::vector<v1::SymbolFunction>> functions_;
};

}  // namespace memoir

#endif  // TOOLS_READ_SYMBOLS_H_
