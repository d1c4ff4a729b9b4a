// The functions in the symbol table of a library or program, sorted by address. libdwfl's own search reads all symbols
// for each address, and libtorch_cpu.so has half a million symbols.
#ifndef TOOLS_SYMBOLIZE_SYMBOL_TABLE_H_
#define TOOLS_SYMBOLIZE_SYMBOL_TABLE_H_

#include <elfutils/libdwfl.h>

#include <vector>

namespace memoir {

class SymbolTable {
 public:
  explicit SymbolTable(Dwfl_Module* module);

  // Returns the linker's name of the function at `address`. nullptr if it has no name. Valid while the module exists.
  const char* NameAt(GElf_Addr address) const;

 private:
  struct Symbol {
    GElf_Addr begin, end;  // if equal, the size is unknown
    const char* name;
  };
  std::vector<Symbol> symbols_;  // by begin
};

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_SYMBOL_TABLE_H_
