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

// Stores `replacement` in one slot that holds `original`, of the kind that a loader fills and may seal, such as that of
// a virtual function in a class's table. False: it holds something else, no loaded object has it, or its page cannot be
// made writable.
MEMOIR_INTERPOSE_API bool RedirectSlot(void** slot, const void* original, void* replacement);

// The other way: every slot that holds `replacement` gets `original`. What others have put there since stays.
std::size_t RestoreImports(const char* function, const void* original, const void* replacement);

// Where the first object that has one defines the function; nullptr: none does. Never a slot's.
MEMOIR_INTERPOSE_API const void* FindDefinition(const char* function);

// What a slot of `function` that calls go to `original` through is to hold; nullptr: it is left alone. Of a slot that
// is still lazy `original` is what the loader would put there.
using SlotChoice = void* (*)(const char* function, const void* original);

// Objects whose slots need no second look. One caller at a time.
struct SeenObjects {
  static constexpr std::size_t kMost = 4096;  // further ones are looked at each time
  std::uint64_t unloaded;
  std::size_t count;
  const void* objects[kMost];
};

// Of slots: `loading`, of objects that the loader is not done with, which may hold anything yet; `undecided`, lazy ones
// of which only the loader knows where they will lead; `refused`, whose page could not be made writable. All three are
// as they were: call again later.
struct ChoiceCounts {
  std::size_t changed, loading, undecided, refused;
  std::size_t left() const { return loading + undecided + refused; }
};

// Offers every import slot of a `wanted` function, in every object that is not in `seen`, but for those of the object
// that the choice is in, to `choose`. A slot that is empty, for the function may be there or not and is not, stays so.
ChoiceCounts RedirectImportsBy(bool (*wanted)(const char* function), SlotChoice choose, SeenObjects* seen);

// Grow with every object that is loaded and unloaded.
struct LoaderCounts {
  std::uint64_t loaded, unloaded;
  bool operator==(const LoaderCounts&) const = default;
};
LoaderCounts CountLoads();
std::uint64_t ObjectsLoadedSoFar();

}  // namespace memoir

#endif  // INTERPOSE_IMPORT_SLOTS_H_
