/* The functions of Memoir's C interface that only the Python package calls; memoir.h has the other functions. Call them
 * with the GIL held. Python objects are void pointers.
 */
#ifndef TRACKER_MEMOIR_PYTHON_H_
#define TRACKER_MEMOIR_PYTHON_H_

#include "tracker/memoir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Objects and functions of the interpreter, functions of the Python package, and classes of torch. */
struct memoir_python {
  void* none;
  void* no; /* False */
  /* A function of the Python package. Called with a module that has no id yet, or whose tensors must be read again.
   * Calls memoir_set_module, with 0 for a module whose calls are not recorded. */
  void* resolve;
  void* gone; /* a function of the Python package, called by memoir_python_gone */
  /* The function set_eval_frame of dynamo: with None it switches dynamo off and returns the previous callback. May be
   * NULL. */
  void* set_eval_frame;
  void (*inc_ref)(void* object);
  void (*dec_ref)(void* object);
  /* The other members are used to read the tensors of modules. */
  void* (*generic_attribute)(void* object, void* name);                        /* PyObject_GenericGetAttr */
  int (*next_entry)(void* dict, intptr_t* position, void** key, void** value); /* PyDict_Next */
  void (*clear_error)(void);                                                   /* PyErr_Clear */
  const char* (*utf8)(void* text, intptr_t* size);                             /* PyUnicode_AsUTF8AndSize */
  int (*is_subtype)(void* type, void* of);                                     /* PyType_IsSubtype */
  void* parameters;                                                            /* the name "_parameters" */
  void* buffers;                                                               /* the name "_buffers" */
  void* local_tensor;                                                          /* the name "_local_tensor" */
  void* dict_type;                                                             /* dict */
  void* tensor_types[2]; /* torch.Tensor, torch.nn.Parameter: the types that torch.profiler reads */
};
/* Call it before each recording of modules. Forgets all modules and parameters. */
MEMOIR_API void memoir_python_setup(const struct memoir_python* interpreter);
/* Sets the offset, in bytes, of the address of the TensorImpl in a Python tensor object. The tensors of modules are not
 * read before this call. */
MEMOIR_API void memoir_python_tensor_layout(size_t offset);
/* A Python type, and the argument kind of its objects. */
struct memoir_python_kind {
  void* type;
  int kind; /* an argument kind (docs/capture_format.md) */
};
/* Offsets, in bytes, of the fields that Memoir reads in the interpreter's frames, and the objects that it compares with
 * the fields (tracker/modules/direct_calls.h, tracker/modules/function_arguments.h). */
struct memoir_python_frames {
  void* (*thread_state)(void); /* PyGILState_GetThisThreadState */
  void* forward;               /* the interned string "forward" */
  void* callers[4];            /* code of torch's functions that call forward */
  void* cell;                  /* the type of closure cells */
  /* frame: in the thread state, the offset of a pointer. through: in the object to which this pointer points, the
   * offset of the pointer to the innermost frame; -1: the first pointer points to the innermost frame itself. */
  int frame, through;
  int code, previous, owner, first_local; /* in a frame; owner: -1 if Python has no such field */
  int name;                               /* in a code object */
  int type, cell_content;                 /* type: in an object; cell_content: in a closure cell */
  /* apply: the code of torch.autograd.Function.apply; NULL: the arguments of Functions are not read. apply_arguments:
   * offset of the tuple of arguments in a frame of this code. */
  void* apply;
  int apply_arguments;
  int tuple_size, tuple_items; /* in a tuple */
  int base;                    /* in a type: its base type */
  struct memoir_python_kind kinds[8];
};
/* Sets the layout of the interpreter's frames. NULL: frames are not read. */
MEMOIR_API void memoir_python_look_at_frames(const struct memoir_python_frames* layout);
/* memoir_python_compiler: called when an event of torch's compilers begins or ends on the calling thread. `depth`:
 * number of nested events that are open now. `begun`: name of the event that begins, prefixed with "torch.compile: ";
 * NULL if an event ends. memoir_python_compiled: records a finished compilation as JSON text, with the same prefix. */
MEMOIR_API void memoir_python_compiler(uint32_t depth, const char* begun);
MEMOIR_API void memoir_python_compiled(const char* text);
/* PyCFunctions with METH_O, called when a call of `module` begins (enter) and ends (exit). */
MEMOIR_API void* memoir_python_enter(void* self, void* module);
MEMOIR_API void* memoir_python_exit(void* self, void* module);
/* A PyCFunction with METH_O: the callback of a weak reference to a module, called when the module has been freed. Calls
 * the function `gone` of memoir_python_setup with the reference. */
MEMOIR_API void* memoir_python_gone(void* self, void* reference);
/* A PyCFunction with METH_VARARGS and METH_KEYWORDS that replaces a function of torch or Python. `functions` is the
 * tuple (original, before, after, set_eval_frame). Calls `before`, `original` and `after` with the arguments, and
 * returns the result of `original`. Functions that are None are skipped. The program's trace and profile functions
 * receive events of `original` alone (tracker/modules/unseen_calls.h). */
MEMOIR_API void* memoir_python_between_unseen(void* functions, void* arguments, void* named);
/* A vectorcall that returns False without a Python frame. It implements python/_torch_memoir/modules/_in_dynamo.py. */
MEMOIR_API void* memoir_python_in_dynamo(void* function, void* const* arguments, size_t count, void* names);
/* Returns 1 while this process records calls of Python functions (stacks=calls). May be called without the GIL. */
MEMOIR_API int memoir_recording_calls(void);
/* For Python before 3.12: starts to record calls of Python functions on all threads (tracker/stacks/call_tracer.h). -1:
 * `problem` has the reason. memoir_python_leave_calls stops this recording of calls. */
MEMOIR_API int memoir_python_trace_calls(char* problem, size_t size);
MEMOIR_API void memoir_python_leave_calls(void);
/* For Python 3.12 and later: prepares the recording of calls of Python functions. -1: `problem` has the reason. The
 * Python package then registers the next four functions, PyCFunctions with METH_FASTCALL, as callbacks of
 * sys.monitoring. memoir_python_call: a function starts, resumes or is thrown into. memoir_python_return: a function
 * returns, yields or unwinds. memoir_python_builtin_call: the event CALL. memoir_python_builtin_return: the events
 * C_RETURN and C_RAISE. */
MEMOIR_API int memoir_python_monitor_calls(char* problem, size_t size);
MEMOIR_API void* memoir_python_call(void* self, void* const* arguments, ptrdiff_t count);
MEMOIR_API void* memoir_python_return(void* self, void* const* arguments, ptrdiff_t count);
MEMOIR_API void* memoir_python_builtin_call(void* self, void* const* arguments, ptrdiff_t count);
MEMOIR_API void* memoir_python_builtin_return(void* self, void* const* arguments, ptrdiff_t count);
/* Returns 1 while this process records the holders of tensors. */
MEMOIR_API int memoir_recording_holders(void);
/* Returns the address of the storage that a torch::autograd::SavedVariable keeps; 0 if it keeps no storage. Does not
 * call the hooks of the SavedVariable. */
MEMOIR_API uint64_t memoir_python_saved(const void* saved);
/* Writes the addresses of the storages of the gradient buckets of a c10d::Reducer (DistributedDataParallel), at most
 * `most` addresses, and returns their number. Call it while no thread runs backward. */
MEMOIR_API size_t memoir_python_buckets(const void* reducer, uint64_t* addresses, size_t most);
/* Sets the id of the module whose Python object has the address `object`. `module`: result of memoir_define_module; 0:
 * calls of this module are not recorded. -1: the table is full. Call memoir_forget_module when the module has been
 * freed, because another object may then get its address. */
MEMOIR_API int memoir_set_module(uint64_t object, uint32_t module);
MEMOIR_API void memoir_forget_module(uint64_t object);
/* Records the tensors that a module holds. Later calls of the module record the tensors again if its parameters have
 * changed. `object`: address of the module's Python object. `module`: the module's id; 0: the tensors are never read,
 * because the module's class overrides access to its dicts. */
MEMOIR_API void memoir_look_at_module(uint64_t object, uint32_t module);

#ifdef __cplusplus
}
#endif

#endif /* TRACKER_MEMOIR_PYTHON_H_ */
