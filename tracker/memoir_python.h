/* The part of Memoir's C interface that the Python package calls, and nobody else: under the GIL, with Python objects
 * as void pointers. The rest is in memoir.h.
 */
#ifndef TRACKER_MEMOIR_PYTHON_H_
#define TRACKER_MEMOIR_PYTHON_H_

#include "tracker/memoir.h"

#ifdef __cplusplus
extern "C" {
#endif

struct memoir_python {
  void* none;
  void*
      resolve; /* called with a module of which nothing is known; it calls memoir_set_module, module 0: not recorded */
  void* gone;  /* called by memoir_python_gone */
  void*
      set_eval_frame; /* dynamo's: with None it looks at no frame and returns what it called for each before; or NULL */
  void (*inc_ref)(void* object);
  void (*dec_ref)(void* object);
  void* (*call)(void* callable, ...); /* PyObject_CallFunctionObjArgs */
  /* What a module holds is looked at where all of these are given. */
  void* (*generic_attribute)(void* object, void* name);                        /* PyObject_GenericGetAttr */
  int (*next_entry)(void* dict, intptr_t* position, void** key, void** value); /* PyDict_Next */
  void (*clear_error)(void);                                                   /* PyErr_Clear */
  const char* (*utf8)(void* text, intptr_t* size);                             /* PyUnicode_AsUTF8AndSize */
  int (*is_subtype)(void* type, void* of);                                     /* PyType_IsSubtype */
  void* parameters;                                                            /* the name "_parameters" */
  void* buffers;                                                               /* the name "_buffers" */
  void* local_tensor;                                                          /* the name "_local_tensor" */
  void* dict_type;                                                             /* dict */
  void* tensor_types[2]; /* torch.Tensor, torch.nn.Parameter: those that torch.profiler looks at */
};
/* Before each recording of modules. Forgets all modules and parameters. */
MEMOIR_API void memoir_python_setup(const struct memoir_python* interpreter);
/* Where the object of a tensor has the address of its TensorImpl; until then no module's tensors are looked at. */
MEMOIR_API void memoir_python_tensor_layout(size_t offset);
/* Where the interpreter's frames hold what is looked for in them (tracker/modules/direct_calls.h): offsets in bytes. */
struct memoir_python_kind {
  void* type;
  int kind; /* of an argument: docs/capture_format.md */
};
struct memoir_python_frames {
  void* (*thread_state)(void); /* PyGILState_GetThisThreadState */
  void* forward;               /* the name, as the interpreter keeps it */
  void* callers[4];            /* code of torch's functions that call forward */
  void* cell;                  /* the type of what holds a closure's variable */
  int frame, through;          /* in the thread's state; then in what that leads to, -1: nothing lies between */
  int code, previous, owner, first_local; /* in a frame; owner -1: there is none */
  int name;                               /* in its code */
  int type, cell_content;                 /* in an object; in a cell */
  /* Of torch.autograd.Function.apply: its code, NULL: it is not looked at; in its frame, the tuple of arguments. */
  void* apply;
  int apply_arguments;
  int tuple_size, tuple_items; /* in a tuple */
  int base;                    /* in a type: what it derives from */
  struct memoir_python_kind kinds[8];
};
/* NULL: frames are not looked at. */
MEMOIR_API void memoir_python_look_at_frames(const struct memoir_python_frames* layout);
/* Of torch's compilers `depth` events are open on the calling thread. `begun`: the name of the innermost, where that
 * has just begun, with "torch.compile: " before it; NULL: others have ended. memoir_python_compiled: what was compiled,
 * as JSON, with the same before it. */
MEMOIR_API void memoir_python_compiler(uint32_t depth, const char* begun);
MEMOIR_API void memoir_python_compiled(const char* text);
/* As PyCFunction with METH_O: a call of `module` begins, ends. */
MEMOIR_API void* memoir_python_enter(void* self, void* module);
MEMOIR_API void* memoir_python_exit(void* self, void* module);
/* The same, as the callback of a weak reference to a module: passes it on. */
MEMOIR_API void* memoir_python_gone(void* self, void* reference);
/* 1 while this process's recording asks for calls of Python functions (stacks=calls); may be called without the GIL. */
MEMOIR_API int memoir_recording_calls(void);
/* See those calls: before Python 3.12, on all threads (tracker/stacks/call_tracer.h). -1: `problem` says why not. */
MEMOIR_API int memoir_python_trace_calls(char* problem, size_t size);
MEMOIR_API void memoir_python_leave_calls(void);
/* From Python 3.12 on, by callbacks of sys.monitoring, as PyCFunction with METH_FASTCALL: of functions that start, go
 * on or are thrown into; of those that return, yield or unwind; CALL; and C_RETURN and C_RAISE. */
MEMOIR_API int memoir_python_monitor_calls(char* problem, size_t size);
MEMOIR_API void* memoir_python_call(void* self, void* const* arguments, ptrdiff_t count);
MEMOIR_API void* memoir_python_return(void* self, void* const* arguments, ptrdiff_t count);
MEMOIR_API void* memoir_python_builtin_call(void* self, void* const* arguments, ptrdiff_t count);
MEMOIR_API void* memoir_python_builtin_return(void* self, void* const* arguments, ptrdiff_t count);
/* 1 while this process's recording asks for the holders of tensors. */
MEMOIR_API int memoir_recording_holders(void);
/* The address of the bytes that a torch::autograd::SavedVariable keeps; 0: none. Calls none of its hooks. */
MEMOIR_API uint64_t memoir_python_saved(const void* saved);
/* The addresses of the buckets that a c10d::Reducer (of DistributedDataParallel) holds, `most` at the most; how many
 * they are. While no thread runs backward. */
MEMOIR_API size_t memoir_python_buckets(const void* reducer, uint64_t* addresses, size_t most);
MEMOIR_API int memoir_set_module(uint64_t object, uint32_t module);
MEMOIR_API void memoir_forget_module(uint64_t object);
/* Records what a module holds that is new, or has a new name; it is looked at again at its calls. `module` 0: it never
 * is, because its class answers in place of its dicts. */
MEMOIR_API void memoir_look_at_module(uint64_t object, uint32_t module);

#ifdef __cplusplus
}
#endif

#endif /* TRACKER_MEMOIR_PYTHON_H_ */
