// Calls of Python functions that the program does not see: its trace and profile functions (sys.settrace,
// sys.setprofile, sys.monitoring) get no event of them, and torch's compiler does not compile them. Call these functions
// with the GIL held. Before Python 3.11 such functions see the calls.
#ifndef TRACKER_MODULES_UNSEEN_CALLS_H_
#define TRACKER_MODULES_UNSEEN_CALLS_H_

namespace memoir {

// Calls `function`, a Python callable, with the tuple `arguments` and the dict `named` (nullptr: no named arguments).
// `set_eval_frame`: the function of dynamo, or nullptr (memoir_python.h). Returns true if the call returned, with
// whatever value; false if a Python exception is set.
bool CallUnseen(void* function, void* arguments, void* named, void* set_eval_frame);

// Calls `function` with one argument.
bool CallUnseen(void* function, void* argument, void* set_eval_frame);

// Calls a function of torch or Python in the way of a PyCFunction with METH_VARARGS and METH_KEYWORDS, and two functions
// of Memoir around it. `functions` is the tuple (original, before, after, set_eval_frame), in which None is left out.
// `before` and `after` get the same arguments as `original`, and the program does not see them; it sees `original` as
// if it was called directly. Returns a new reference to what `original` returns, else to None; nullptr: an exception is
// set.
void* CallBetweenUnseen(void* functions, void* arguments, void* named);

}  // namespace memoir

#endif  // TRACKER_MODULES_UNSEEN_CALLS_H_
