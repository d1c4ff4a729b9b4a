#include "tools/symbolize/symbol_table.h"

#include <algorithm>

namespace memoir {
namespace {

bool IsCode(const GElf_Sym& symbol) {
  const int type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

}  // namespace

SymbolTable::SymbolTable(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (name != nullptr && *name != '\0' && IsCode(symbol))
      symbols_.push_back({address, address + symbol.st_size, name});
  }
  std::ranges::stable_sort(symbols_, {}, &Symbol::begin);
}

const char* SymbolTable::NameAt(GElf_Addr address) const {
  constexpr int kMostAliases = 16;  // limit of symbols at one address, and of labels inside of a function
  auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::begin);
  const char* label = nullptr;
  for (int i = 0; i < kMostAliases && at != symbols_.begin(); ++i) {
    --at;
    if (address < at->end) return at->name;
    if (i == 0 && at->begin == at->end) label = at->name;
  }
  return label;
}

}  // namespace memoir
