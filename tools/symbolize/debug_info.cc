#include "tools/symbolize/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "tools/symbolize/function_name.h"
#include "tools/symbolize/symbol_table.h"

namespace memoir {
namespace {

using v1::SymbolFunction;

char* const kNoDebugPath = nullptr;
const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                   .find_debuginfo = dwfl_standard_find_debuginfo,
                                   .section_address = dwfl_offline_section_address,
                                   .debuginfo_path = const_cast<char**>(&kNoDebugPath)};

// Returns the name of a function, which may be an inlined function.
std::string NameOf(Dwarf_Die& function) {
  Dwarf_Attribute attribute;
  for (const unsigned code : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (const char* name = dwarf_formstring(dwarf_attr_integrate(&function, code, &attribute)); name != nullptr)
      return FunctionName(name);
  }
  const char* name = dwarf_diename(&function);
  return name == nullptr ? "" : name;
}

struct SourcePosition {
  const char* file = nullptr;
  const char* folder = nullptr;  // folder in which the compiler ran
  int line = 0;
};

SymbolFunction Function(std::string name, const SourcePosition& place) {
  SymbolFunction function;
  function.set_name(std::move(name));
  if (place.file != nullptr) {
    const std::filesystem::path file =
        place.folder == nullptr ? place.file : std::filesystem::path(place.folder) / place.file;
    function.set_file(file.lexically_normal());
  }
  function.set_line(static_cast<std::uint32_t>(place.line));
  return function;
}

// Returns the line from which an inlined function is called.
SourcePosition CallOf(Dwarf_Die& inlined, Dwarf_Die& unit) {
  SourcePosition place;
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &number) == 0)
    place.line = static_cast<int>(number);
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) == 0 &&
      dwarf_getsrcfiles(&unit, &files, &count) == 0)
    place.file = dwarf_filesrc(files, number, nullptr, nullptr);
  place.folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return place;
}

// Stores the scopes around the address in `scopes`, innermost first, and returns their number. An inlined function is
// inside of the function into which it was inlined, wherever its source is. The caller frees `scopes`.
int ScopesAround(Dwarf_Die& unit, Dwarf_Addr address, Dwarf_Die** scopes) {
  Dwarf_Die* innermost = nullptr;
  const int count = dwarf_getscopes(&unit, address, &innermost) > 0 ? dwarf_getscopes_die(&innermost[0], scopes) : 0;
  std::free(innermost);
  return count;
}

SourcePosition PlaceAt(Dwfl_Module* module, Dwarf_Addr address) {
  SourcePosition place;
  Dwfl_Line* line = dwfl_module_getsrc(module, address);
  if (line == nullptr) return place;
  place.file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr);
  place.folder = dwfl_line_comp_dir(line);
  return place;
}

}  // namespace

struct DebugInfo::Session {
  Dwfl* dwfl = dwfl_begin(&kCallbacks);
  Dwfl_Module* module = nullptr;
  GElf_Addr bias = 0;  // difference between the module's addresses and those in its file
  std::optional<SymbolTable> symbols;
  ~Session() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }
};

DebugInfo::DebugInfo(const NativeObjectName& object, ObjectFile file) : session_(std::make_unique<Session>()) {
  Session& session = *session_;
  if (session.dwfl == nullptr) {
    problem_ = dwfl_errmsg(-1);
    return;
  }
  dwfl_report_begin(session.dwfl);
  if (file.file) {
    // dwfl_report_offline takes ownership of the descriptor if it succeeds.
    session.module = dwfl_report_offline(session.dwfl, file.path.c_str(), file.path.c_str(), file.file->descriptor());
    if (session.module != nullptr) file.file->Release();
  } else if (IsBuildId(object.build_id)) {
    constexpr GElf_Addr kEnd = GElf_Addr{1} << 32;  // larger than all offsets
    session.module = dwfl_report_module(session.dwfl, object.path.c_str(), 0, kEnd);
    const std::string id = absl::HexStringToBytes(object.build_id);
    dwfl_module_report_build_id(session.module, reinterpret_cast<const unsigned char*>(id.data()), id.size(), 0);
  }
  dwfl_report_end(session.dwfl, nullptr, nullptr);
  if (!file.file && session.module == nullptr) {
    problem_ = "it is not here";
  } else if (session.module == nullptr || dwfl_module_getelf(session.module, &session.bias) == nullptr) {
    problem_ = dwfl_errmsg(-1);
  } else {
    session.symbols.emplace(session.module);
  }
}

DebugInfo::DebugInfo(DebugInfo&&) noexcept = default;
DebugInfo::~DebugInfo() = default;

bool DebugInfo::has_lines() const {
  Dwarf_Addr bias = 0;
  return problem_.empty() && dwfl_module_getdwarf(session_->module, &bias) != nullptr;
}

std::vector<SymbolFunction> DebugInfo::FunctionsAt(std::uint32_t offset) const {
  std::vector<SymbolFunction> functions;
  if (!problem_.empty()) return functions;
  Dwfl_Module* module = session_->module;
  const Dwarf_Addr address = offset + session_->bias;
  SourcePosition place = PlaceAt(module, address);
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  Dwarf_Die* scopes = nullptr;
  const int count = unit == nullptr ? 0 : ScopesAround(*unit, address - bias, &scopes);
  bool is_whole = false;
  for (int i = 0; i < count && !is_whole && functions.size() < std::size_t{kMostInlinedFunctions}; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    is_whole = tag == DW_TAG_subprogram;
    if (!is_whole && tag != DW_TAG_inlined_subroutine) continue;
    functions.push_back(Function(NameOf(scopes[i]), place));
    if (!is_whole) place = CallOf(scopes[i], *unit);
  }
  std::free(scopes);
  const char* symbol = is_whole ? nullptr : session_->symbols->NameAt(address);
  if (symbol != nullptr) functions.push_back(Function(FunctionName(symbol), place));
  return functions;
}

}  // namespace memoir
