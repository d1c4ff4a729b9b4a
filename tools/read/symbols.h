// The file of names of native frames that `memoir symbolize` writes into a capture's folder.
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

// A native object in the capture's names of code: its path, and its build id behind a mark (docs/capture_format.md).
struct NativeObjectName {
  std::string path;
  std::string build_id;  // hexadecimal digits; "": it has none
  auto operator<=>(const NativeObjectName&) const = default;
};
// Whether a name of code is one.
bool IsNativeObject(const std::string& code_text);
NativeObjectName NativeObjectOf(const std::string& code_file, const std::string& code_text);

// symbols.memoir-symbols in the capture's folder; a capture can also be one part's file.
std::string SymbolsPath(const std::string& capture);
// Replaces the file as a whole, and removes what a write that was killed has left. Errors say what to do.
absl::Status WriteSymbols(const std::string& capture, const v1::Symbols& symbols);
// A larger file is neither written nor read: a capture of a training has some thousand addresses, of 200 bytes or so.
inline constexpr std::uint64_t kMostSymbolBytes = std::uint64_t{32} << 20;
// Of one address; further out they are left out.
inline constexpr int kMostInlinedFunctions = 256;

class Symbols {
 public:
  // None where there is no file. InvalidArgument: what is there is not one, or damaged; the message has no path.
  static absl::StatusOr<Symbols> Read(const std::string& capture);

  // Innermost first; nullptr: not known.
  const std::vector<v1::SymbolFunction>* Find(const NativeObjectName& object, std::uint32_t offset) const;
  // What is known here and is not named there.
  void AddOthersTo(v1::Symbols& symbols) const;
  bool empty() const { return functions_.empty(); }

 private:
  absl::flat_hash_map<std::string, std::uint32_t> objects_;  // by build id, else path
  std::vector<NativeObjectName> names_;                      // by object
  // By object and offset.
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::vector<v1::SymbolFunction>> functions_;
};

}  // namespace memoir

#endif  // TOOLS_READ_SYMBOLS_H_
