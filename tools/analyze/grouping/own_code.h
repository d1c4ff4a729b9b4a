// Decides who owns Python code or native code: the user, or a library.
//
// Uses only the recorded file names, because captures are also read on machines that lack the files.
#ifndef TOOLS_ANALYZE_GROUPING_OWN_CODE_H_
#define TOOLS_ANALYZE_GROUPING_OWN_CODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

enum class CodeOwner : std::uint8_t { kLibrary, kProgram, kNamed };

class OwnCode {
 public:
  // `path`: the value of --own, a folder or file. An absolute path names all files whose names begin with it. A
  // relative path may occur anywhere in a file name. Empty: no code is named.
  explicit OwnCode(std::string_view path = "");

  // kNamed: code at or below the path. kLibrary: installed packages, the standard library, torch, and code without a
  // file that these libraries generate. kProgram: all other code, including exec() and notebooks.
  CodeOwner OwnerOf(std::string_view file) const;
  // Returns the owner of native code. `object`: the library or program that contains the code. `source`: its source
  // file; empty if unknown. Returns kLibrary if the object is in an installed package or in a library folder of the
  // system, or if the source is a header of such a library.
  CodeOwner OwnerOfNative(std::string_view object, std::string_view source) const;

 private:
  bool IsNamed(std::string_view file) const;

  std::string path_;  // without a trailing "/"
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_OWN_CODE_H_
