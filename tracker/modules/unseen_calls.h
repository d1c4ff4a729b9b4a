// Calls of Python functions that the program does not see: its trace and profile functions (sys.settrace,
// sys.setprofile, sys.monitoring) get no event of them, and torch's compiler does not compile them. Before Python 3.11
// trace and profile functions see the calls. Hold the GIL when you call these functions.
#ifndef TRACKER_MODULES_UNSEEN_CALLS_H_
#define TRACKER_MODULES_UNSEEN_CALLS_H_

namespace memoir {

// Calls `function`, a Python callable, with the tuple `arguments` and the dict `named` (nullptr: no named arguments).
// `set_eval_frame`: the function of dynamo, or nullptr (memoir_python.h). Returns true if the call returned, with
// whatever value; false if a Python exception is set.
bool CallUnseen(void* function, void* arguments, void* named, void* set_eval_frame);

// Calls `function` with one argument.
bool CallUnseen(void* function, void* argument, void* set_eval_frame);

// Calls `before`, `original` and `after` with the same arguments: the tuple `arguments` and the dict `named`.
// `functions` is the tuple (original, before, after, set_eval_frame), in which each may be None, and is then skipped.
// The program sees `original` as if it was called directly, and does not see the other two. Returns a new reference to
// the result of `original`, or to None without `original`. nullptr if an exception is set; the remaining functions were
// not called.
void* CallBetweenUnseen(void* functions, void* arguments, void* named);

}  // namespace memoir

#endif  // TRACKER_MODULES_UNSEEN_CALLS_H_
