// Import slots: where a loaded object keeps the address of a function that it calls in another one. Overwriting a slot
// redirects the calls of that one object, whoever was loaded first and however (RTLD_LOCAL too).
//
// Never dlsym(RTLD_NEXT): torch's libraries are loaded RTLD_LOCAL, and it finds nothing for them. Never dlopen itself:
// what its caller's run path means would change. Objects that are loaded later are looked at when somebody calls again:
// ObjectsLoadedSoFar says whether there are any. libc only. Any thread, but not in a signal handler; nothing allocates.
#ifndef INTERPOSE_IMPORT_SLOTS_H_
#define INTERPOSE_IMPORT_SLOTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/export.h"

namespace memoir {

// Where calls of `function` go now: what a slot holds; where all are still lazy, its definition in the first object
// that has one. nullptr: nobody calls or has it, and a hook on it must not exist. Of a variable:
// where those that import it find it.
MEMOIR_INTERPOSE_API const void* FindImported(const char* function);

// Makes every loaded object's calls of `function` go to `replacement`, but for those of the object that `replacement`
// is in. A slot that another tool has redirected already, to neither `original` nor the object's own lazy stub, is left
// alone. Returns how many slots were changed; `refused`: those whose page could not be made writable; `loading`: those
// of objects that the loader is not done with, left alone too, for it still writes to their pages: call again later.
MEMOIR_INTERPOSE_API std::size_t RedirectImports(const char* function, const void* original, void* replacement,
                                                 std::size_t* refused = nullptr, std::size_t* loading = nullptr);

// The other way: every slot that holds `replacement` gets `original`. What others have put there since stays.
std::size_t RestoreImports(const char* function, const void* original, const void* replacement);

// Grows with every object that is loaded.
std::uint64_t ObjectsLoadedSoFar();

}  // namespace memoir

#endif  // INTERPOSE_IMPORT_SLOTS_H_
