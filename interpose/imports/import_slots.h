// Import slots: the entries of a loaded object in which the object keeps the addresses of other objects' functions.
// Overwriting a slot redirects the calls of this one object, whatever the order of loading and the flags of dlopen
// (also with RTLD_LOCAL). A slot is lazy until the first call through it: until then it contains the address of a stub
// in its own object. At the first call the loader stores the function's address in the slot.
//
// Memoir never uses dlsym(RTLD_NEXT): torch's libraries are loaded with RTLD_LOCAL, so dlsym would not find their
// functions. Memoir never redirects dlopen, because dlopen resolves paths by the run path of its caller. Each function
// here visits the objects that are loaded when it is called; ObjectsLoadedSoFar shows whether more objects were loaded
// since. This code needs no library except libc. Its functions may be called on any thread, but not in a signal
// handler. They allocate nothing.
#ifndef INTERPOSE_IMPORTS_IMPORT_SLOTS_H_
#define INTERPOSE_IMPORTS_IMPORT_SLOTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// Returns the current target of calls of `function`: the content of a slot. If all slots are lazy, returns the
// definition in the first object that defines `function`. For a variable, returns the address that importers use.
// nullptr if no object imports or defines the name.
MEMOIR_INTERPOSE_API const void* FindImported(const char* function);

// Redirects every loaded object's calls of `function` to `replacement`, except for the object that contains
// `replacement`. A slot is changed only if it holds `original` or its object's own lazy stub; a slot that another tool
// has redirected stays unchanged. Returns the number of changed slots. `refused` receives the number of slots whose
// page could not be made writable. `loading` receives the number of slots of objects that the loader has not finished
// and still writes to; call again later for them.
MEMOIR_INTERPOSE_API std::size_t RedirectImports(const char* function, const void* original, void* replacement,
                                                 std::size_t* refused = nullptr, std::size_t* loading = nullptr);

// Stores `replacement` in `slot` if it holds `original`. For slots that the loader fills and may make read-only, such
// as entries of a virtual function table. False if the slot holds another value, no loaded object contains it, or its
// page cannot be made writable.
MEMOIR_INTERPOSE_API bool RedirectSlot(void** slot, const void* original, void* replacement);

// Reverses RedirectImports: every slot that holds `replacement` gets `original`. A slot that another tool has changed
// since stays unchanged. Returns the number of changed slots.
std::size_t RestoreImports(const char* function, const void* original, const void* replacement);

// Returns the definition of `function` in the first object that defines it, never the content of a slot. nullptr if no
// object defines it.
MEMOIR_INTERPOSE_API const void* FindDefinition(const char* function);

// Returns the new value of a slot through which calls go to `original`; nullptr leaves the slot unchanged. For a lazy
// slot `original` is the value that the loader would write.
using SlotChoice = void* (*)(const char* function, const void* original);

// Objects that RedirectImportsBy has finished and need not visit again. Used by one thread at a time.
struct VisitedObjects {
  static constexpr std::size_t kMost = 4096;  // objects beyond this number are visited every time
  std::uint64_t unloaded;                     // count of unloaded objects; if it changes, `objects` is emptied
  std::size_t count;
  const void* objects[kMost];
};

// Numbers of slots. `changed`: redirected. `loading`: in objects that the loader has not finished, so the slot's value
// is not final. `undecided`: lazy slots whose target only the loader knows. `refused`: slots whose page could not be
// made writable. Slots of the last three kinds are unchanged, and need another call later.
struct ChoiceCounts {
  std::size_t changed, loading, undecided, refused;
  std::size_t left() const { return loading + undecided + refused; }
};

// Calls `choose` for every import slot for whose function `wanted` returns true, in every object that is not in `seen`,
// and stores the result in the slot. The slots of the object that defines the chosen function stay
// unchanged. An empty slot (a
// weak import without a definition) stays empty.
ChoiceCounts RedirectImportsBy(bool (*wanted)(const char* function), SlotChoice choose, VisitedObjects* seen);

// How many objects the loader has loaded, and how many it has unloaded, since the process began.
struct LoaderCounts {
  std::uint64_t loaded, unloaded;
  bool operator==(const LoaderCounts&) const = default;
};
LoaderCounts CountLoads();
// Returns CountLoads().loaded.
std::uint64_t ObjectsLoadedSoFar();

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_IMPORT_SLOTS_H_
