/* Memoir's C interface: what the Python package calls, and what a libtorch program may call.
 *
 * The functions are exported by libmemoir_tracker-torchX.Y.so, which must match the program's torch. One recording at a
 * time; after a stop another may start. Functions return 0, or -1 after writing one line (cause and fix) into
 * `message`, which is cut to `size` and always terminated. None throws; none ends the program.
 *
 * Threads: any; start and stop outside of torch's operators. In a forked child they do nothing and return 0 until the
 * child starts a recording of its own.
 */
#ifndef TRACKER_MEMOIR_H_
#define TRACKER_MEMOIR_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMOIR_API __attribute__((visibility("default")))

enum memoir_end { MEMOIR_STOPPED = 1, MEMOIR_EXITED = 2 };

/* Starts to record. `settings` is a null-terminated list of "name=value", names as in proto/memoir/options.def without
 * "MEMOIR_" and in lower case ("output=run1", "max_size=2GiB"); they come before the environment's MEMOIR_* variables.
 * Also "program", "python_version", and "child=1" of a process that another of the job's started: it leaves to that one
 * what concerns all of them. */
MEMOIR_API int memoir_start(const char* const* settings, char* message, size_t size);

/* Ends the recording and closes the capture; returns when everything is on file. -1: something could not be written. */
MEMOIR_API int memoir_stop(enum memoir_end reason, char* message, size_t size);

/* Of a job's processes, those that may or may not train (Python's package calls these; a libtorch program that forks
 * may, too):
 * memoir_watch: this process is ready to record, with `settings` as of memoir_start, and begins once it trains, that is
 * at its first backward pass or optimizer step, or at memoir_begin. Until then it has no ring, thread or file.
 * memoir_forked: to be called in a forked child: it is ready as by memoir_watch, if its parent recorded.
 * memoir_begin: begins now where it was ready; 0 also where it was not.
 * memoir_leave: this process never trains; only memoir_start will record it. */
MEMOIR_API int memoir_watch(const char* const* settings, char* message, size_t size);
MEMOIR_API void memoir_forked(void);
MEMOIR_API int memoir_begin(char* message, size_t size);
MEMOIR_API void memoir_leave(void);

/* The rank, now that it is known: of the job's default process group. */
MEMOIR_API void memoir_rank(uint32_t rank, uint32_t world_size);

/* torch has made its CUDA allocators (torch.cuda.init() is done): from here on they are followed, with what is live
 * already. Without this call, from the first CUDA block that an operator allocates. */
MEMOIR_API void memoir_cuda_is_ready(void);

/* A named instant, and the start of step `step`, in the recording. Texts over 1,024 bytes are cut. */
MEMOIR_API void memoir_mark(const char* text);
MEMOIR_API void memoir_step(uint64_t step);

/* Modules: parts of a model, each with a path from its root ("layers.3.mlp.fc1"; "" is the root itself), a class, and
 * the class of the root. A libtorch program defines each once per recording and calls enter and exit around its
 * forward; the Python package does so for every torch.nn.Module. Define returns 0, which the others pass over, when
 * nothing is recorded or no more fit. */
MEMOIR_API uint32_t memoir_define_module(const char* root, const char* path, const char* class_name);
MEMOIR_API void memoir_enter_module(uint32_t module);
MEMOIR_API void memoir_exit_module(uint32_t module);
/* Whose gradient is accumulated: `tensor` is the address of the parameter's TensorImpl. Forget it when the parameter
 * goes. -1: no more fit. */
MEMOIR_API int memoir_set_parameter(uint64_t tensor, uint32_t module);
MEMOIR_API void memoir_forget_parameter(uint64_t tensor, uint32_t module);
/* 1 while this process records modules (the option `modules`). */
MEMOIR_API int memoir_recording_modules(void);

/* For the Python package alone: under the GIL, with Python objects as void pointers. */
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
MEMOIR_API int memoir_set_module(uint64_t object, uint32_t module);
MEMOIR_API void memoir_forget_module(uint64_t object);
/* Records what a module holds that is new, or has a new name; it is looked at again at its calls. `module` 0: it never
 * is, because its class answers in place of its dicts. */
MEMOIR_API void memoir_look_at_module(uint64_t object, uint32_t module);

/* What optimizer number `optimizer` holds after a step, as addresses of TensorImpls that the caller keeps alive: at
 * most 126 parameters, and `state_counts[i]` tensors of the state of the i-th one, all in one row in `state`. `more`:
 * goes on with the call before. Without parameters: it holds what was said last. An address of the state whose lowest
 * bit is set is of a tensor inside a list or dict of the state, where torch.profiler does not look. */
MEMOIR_API void memoir_optimizer_holds(uint64_t optimizer, const void* const* parameters, size_t count,
                                       const void* const* state, const uint32_t* state_counts, int more);

/* Parts of the capture that were begun after the first: what is held is said again in each. */
MEMOIR_API uint64_t memoir_parts(void);

/* Returns when everything recorded before the call is on file. */
MEMOIR_API void memoir_flush(void);

/* How much is recorded: nothing, allocations and deallocations alone, or operators, too. */
enum memoir_level { MEMOIR_OFF = 0, MEMOIR_MEMORY = 1, MEMOIR_ALL = 2 };

/* Switches the running recording off and on again. With `keep_memory` allocations and deallocations are recorded on, so
 * that what is live is known throughout; without, a hook costs next to nothing, and blocks from before the resume are
 * not followed any more. In effect when it returns. -1: nothing is recorded, or the ring had no room for the switch. */
MEMOIR_API int memoir_pause(int keep_memory);
MEMOIR_API int memoir_resume(void);
MEMOIR_API enum memoir_level memoir_level(void);

/* 1 while this process records; also while that is switched off. */
MEMOIR_API int memoir_recording(void);

/* Folder of the capture, "" before the first start; cut to `size`. */
MEMOIR_API int memoir_output(char* folder, size_t size);

/* The torch this library was built for: "2.11". */
MEMOIR_API const char* memoir_torch_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TRACKER_MEMOIR_H_ */
