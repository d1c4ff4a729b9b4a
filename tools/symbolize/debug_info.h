// Functions and lines of addresses in one library or program, by elfutils' libdwfl. Debug information is looked for in
// the file itself, in /usr/lib/debug, and with debuginfod where DEBUGINFOD_URLS names a server.
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
  // `file`: without one it has to be fetched by the build id.
  DebugInfo(const NativeObjectName& object, ObjectFile file);
  ~DebugInfo();
  DebugInfo(DebugInfo&&) noexcept;

  // Why there is none, in a few words; "": it was found.
  const std::string& problem() const { return problem_; }
  // Whether it has, or has beside it, what says lines of source.
  bool has_lines() const;
  // Innermost first: inlined ones, then the one that they were inlined into. Empty: no function is known there.
  std::vector<v1::SymbolFunction> FunctionsAt(std::uint32_t offset) const;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::string problem_;
};

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_DEBUG_INFO_H_
