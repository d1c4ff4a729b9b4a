// Whose Python code it is: the user's own, or that of a library through which a call only goes.
//
// Known by the name of its file alone, as the interpreter had it: captures are read where those files are not.
#ifndef TOOLS_ANALYZE_GROUPING_OWN_CODE_H_
#define TOOLS_ANALYZE_GROUPING_OWN_CODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace memoir {

enum class CodeOwner : std::uint8_t { kLibrary, kProgram, kNamed };

class OwnCode {
 public:
  // `path`: of --own, a folder or file. An absolute one is where a name begins, another may stand anywhere in it. "":
  // nothing is named.
  explicit OwnCode(std::string_view path = "");

  // kNamed: at or below the path. kLibrary: installed packages, the standard library, torch, and code without a file of
  // its own that these made. kProgram: all else, also what exec() and notebooks run.
  CodeOwner OwnerOf(std::string_view file) const;
  // The same of native code, by the library or program that has it, and by its source, where that is known ("": it is
  // not): kLibrary in installed packages, where the system has its libraries, and of code of their headers.
  CodeOwner OwnerOfNative(std::string_view object, std::string_view source) const;

 private:
  bool Names(std::string_view file) const;

  std::string path_;  // without "/" at its end
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_OWN_CODE_H_
