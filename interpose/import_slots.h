// Import slots: where a loaded object keeps the address of a function that it calls in another one. Overwriting a slot
// redirects the calls of that one object, whoever was loaded first and however (RTLD_LOCAL too).
//
// Only objects that are loaded now are looked at. libc only.
#ifndef INTERPOSE_IMPORT_SLOTS_H_
#define INTERPOSE_IMPORT_SLOTS_H_

#include <cstddef>

namespace memoir {

// Makes every loaded object's calls of `function` go to `replacement`, but for those of the object that `replacement`
// is in. A slot that another tool has redirected already, to neither `original` nor the object's own lazy stub, is left
// alone. Returns how many slots were changed; one whose page could not be made writable is not. Any thread; allocates
// nothing.
std::size_t RedirectImports(const char* function, const void* original, void* replacement);

}  // namespace memoir

#endif  // INTERPOSE_IMPORT_SLOTS_H_
