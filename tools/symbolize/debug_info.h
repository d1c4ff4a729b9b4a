// Finds functions and lines of addresses in one library or program, with elfutils' libdwfl. Looks for debug information
// in the file itself, in /usr/lib/debug, and with debuginfod if DEBUGINFOD_URLS names a server.
#ifndef TOOLS_SYMBOLIZE_DEBUG_INFO_H_
#define TOOLS_SYMBOLIZE_DEBUG_INFO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memoir/v1/symbols.pb.h"
#include "tools/read/symbols.h"
#include "tools/symbolize/object_file.h"

namespace memoir {

class DebugInfo {
 public:
  // If `file` is missing on this machine, debuginfod fetches the file of this build id.
  DebugInfo(const NativeObjectName& object, ObjectFile file);
  ~DebugInfo();
  DebugInfo(DebugInfo&&) noexcept;

  // The reason why the file cannot be used, in a few words. Empty if the file can be used.
  const std::string& problem() const { return problem_; }
  // Returns true if the file, or its separate debug file, contains source lines.
  bool has_lines() const;
  // Returns the functions at an address, innermost first: inlined functions, then the function that contains them.
  // Empty if the address is in no known function.
  std::vector<v1::SymbolFunction> FunctionsAt(std::uint32_t offset) const;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::string problem_;
};

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_DEBUG_INFO_H_
