// The functions of a library's or program's symbol table, by address. libdwfl's own search looks at every symbol for
// each address, and libtorch_cpu.so has half a million.
#ifndef TOOLS_SYMBOLIZE_SYMBOL_TABLE_H_
#define TOOLS_SYMBOLIZE_SYMBOL_TABLE_H_

#include <elfutils/libdwfl.h>

#include <vector>

namespace memoir {

class SymbolTable {
 public:
  explicit SymbolTable(Dwfl_Module* module);

  // As the linker knows it; nullptr: none is there. Good while the module is.
  const char* NameAt(GElf_Addr address) const;

 private:
  struct Symbol {
    GElf_Addr begin, end;  // equal: its size is not known
    const char* name;
  };
  std::vector<Symbol> symbols_;  // by begin
};

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_SYMBOL_TABLE_H_
