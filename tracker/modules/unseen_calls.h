// Calls Python functions so that the program does not notice the calls. Its trace and profile functions (sys.settrace,
// sys.setprofile, sys.monitoring) receive no events of the calls, and torch's compiler does not compile the functions.
// Before Python 3.11, trace and profile functions do receive the events. Call with the GIL held.
#ifndef TRACKER_MODULES_UNSEEN_CALLS_H_
#define TRACKER_MODULES_UNSEEN_CALLS_H_

namespace memoir {

// Calls `function`, a Python callable, with the tuple `arguments` and the dict `named` (nullptr: no named arguments).
// `set_eval_frame`: the function of dynamo, or nullptr (memoir_python.h). Returns true if `function` returned, with any
// value; false if it raised an exception, which is then set.
bool CallUnseen(void* function, void* arguments, void* named, void* set_eval_frame);

// Calls `function` with one argument.
bool CallUnseen(void* function, void* argument, void* set_eval_frame);

// Calls `before`, `original` and `after` with the same arguments: the tuple `arguments` and the dict `named`.
// `functions` is the tuple (original, before, after, set_eval_frame). Functions that are None are skipped. The program
// notices the call of `original` as if it had made the call itself, but not the calls of `before` and `after`. Returns
// a new reference to the result of `original`, or to None if `original` is None. nullptr if one of the functions raised
// an exception; the functions after it were not called.
void* CallBetweenUnseen(void* functions, void* arguments, void* named);

}  // namespace memoir

#endif  // TRACKER_MODULES_UNSEEN_CALLS_H_
