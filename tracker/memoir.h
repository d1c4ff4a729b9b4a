/* Memoir's C interface, for libtorch programs and the Python package (of which memoir_python.h has the rest).
 *
 * Under `memoir run` a libtorch program is recorded without calling any of it. The functions are exported by
 * libmemoir_tracker-torchX.Y.so, which must match the program's torch: memoir/load.h finds and loads it, in C++
 * memoir.hpp by that. One recording at a time; after a stop another may start. Functions return 0, or -1 after writing
 * one line (cause and fix) into `message`, which is cut to `size` and always terminated. None throws; none ends the
 * program.
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
 * "MEMOIR_" and in lower case ("output=run1", "max_size=2GiB"); they override the environment's MEMOIR_* variables.
 * Also "program", "python_version", and "child=1" in a process that another process of the job started: messages about
 * the whole job are then left to that one. */
MEMOIR_API int memoir_start(const char* const* settings, char* message, size_t size);

/* Ends the recording and closes the capture; returns when all events are written. -1: some could not be written. */
MEMOIR_API int memoir_stop(enum memoir_end reason, char* message, size_t size);

/* What ends the program, such as "RuntimeError: ...", before memoir_stop(MEMOIR_EXITED): the capture has it. */
MEMOIR_API void memoir_uncaught(const char* text);

/* What libmemoir_interpose.so calls before main, in a program that has libtorch and no Python: records as the
 * environment asks, until the program exits. */
MEMOIR_API void memoir_program_starts(const char* program);

/* For processes of a job that train only perhaps (the Python package calls these; a libtorch program that forks may,
 * too):
 * memoir_watch: this process is ready to record, with `settings` as of memoir_start, and begins once it trains, that is
 * at its first backward pass or optimizer step, or at memoir_begin. Until then it has no ring, thread or file.
 * memoir_forked: to be called in a forked child: it is ready as by memoir_watch, if its parent recorded. Under
 * `memoir run` a libtorch program's children are, without a call.
 * memoir_begin: begins now if it was ready; returns 0 also if it was not.
 * memoir_leave: this process never trains; from now on only memoir_start records it. */
MEMOIR_API int memoir_watch(const char* const* settings, char* message, size_t size);
MEMOIR_API void memoir_forked(void);
MEMOIR_API int memoir_begin(char* message, size_t size);
MEMOIR_API void memoir_leave(void);

/* The rank, now that it is known: of the job's default process group. */
MEMOIR_API void memoir_rank(uint32_t rank, uint32_t world_size);

/* Where this rank stands among the job's, in each dimension in which the job is parallel ("pp", "dp", "tp"): `indices`
 * from 0, `sizes` in ranks. The first 16 are kept, in the place of those of an earlier call, of names 64 bytes. To be
 * called while a recording runs; the Python package reads it from DeviceMesh and from named process groups. */
MEMOIR_API void memoir_coordinates(const char* const* dimensions, const uint32_t* indices, const uint32_t* sizes,
                                   size_t count);

/* To be called once torch has made its CUDA allocators (torch.cuda.init()): they are recorded from here on, with the
 * blocks that are live. Without this call they are recorded from the first CUDA block that an operator allocates. */
MEMOIR_API void memoir_cuda_is_ready(void);

/* A named instant, and the start of step `step`, in the recording. Texts over 1,024 bytes are cut. */
MEMOIR_API void memoir_mark(const char* text);
MEMOIR_API void memoir_step(uint64_t step);

/* Modules and optimizers. The Python package reports every torch.nn.Module and torch.optim.Optimizer; a libtorch
 * program calls these functions, or memoir/torch.hpp, which does so for torch's C++ modules and optimizers. In all of
 * them a tensor is the address of its TensorImpl (at::Tensor::unsafeGetTensorImpl), which the caller keeps alive during
 * the call. What is defined holds for one recording; memoir_recordings says which. Nothing is recorded while operators
 * are not (memoir_level).
 *
 * A module is a part of a model, with a path from its root ("layers.3.mlp.fc1"; "" is the root itself), a class, and
 * the class of the root. Define it once per recording, and call enter and exit around its forward. Define returns 0,
 * which the others ignore, when nothing is recorded or the table of names is full. */
MEMOIR_API uint32_t memoir_define_module(const char* root, const char* path, const char* class_name);
MEMOIR_API void memoir_enter_module(uint32_t module);
MEMOIR_API void memoir_exit_module(uint32_t module);

/* The tensors that a module itself holds, with names ("weight"; NULL: none): call it once the module is defined, when
 * they change, and when memoir_parts changes. Gradients are read from the parameters. A parameter that several modules
 * hold belongs to the first of them that was reported. */
struct memoir_held {
  const void* tensor;
  const char* name;
};
MEMOIR_API void memoir_module_holds(uint32_t module, const struct memoir_held* parameters, size_t parameter_count,
                                    const struct memoir_held* buffers, size_t buffer_count);
/* The module of a parameter's gradient, where memoir_module_holds does not report it. Forget a parameter before it is
 * destroyed: its address may be another tensor's then. -1: the table is full. */
MEMOIR_API int memoir_set_parameter(uint64_t tensor, uint32_t module);
MEMOIR_API void memoir_forget_parameter(uint64_t tensor, uint32_t module);

/* 1 while this process records modules (the option `modules`). */
MEMOIR_API int memoir_recording_modules(void);

/* A user range, as torch's record_function makes one: torch.profiler sees it, too. It ends on the thread where it
 * began, before those around it. "Optimizer.step#NAME" and "Optimizer.zero_grad#NAME" are the phase `optimizer`.
 * NULL: nothing records ranges, or there is no memory; memoir_end_range ignores it. */
MEMOIR_API void* memoir_begin_range(const char* name);
MEMOIR_API void memoir_end_range(void* range);

/* The tensors that an optimizer holds, at the end of each of its steps, inside the step's range; `optimizer` is a
 * number that identifies it. At most 126 parameters, and `state_counts[i]` tensors of the state of the i-th one, one
 * parameter's after the other's in `state`. `more`: continues the call before. Without parameters: they are those of
 * the call before. An address of the state whose lowest bit is set is of a tensor inside a list or dict of the state,
 * which torch.profiler does not look at. */
MEMOIR_API void memoir_optimizer_holds(uint64_t optimizer, const void* const* parameters, size_t count,
                                       const void* const* state, const uint32_t* state_counts, int more);

/* Number of parts begun after the first: what modules hold has to be reported again in each. */
MEMOIR_API uint64_t memoir_parts(void);
/* Changes with each recording: what was defined before is forgotten. */
MEMOIR_API uint64_t memoir_recordings(void);

/* Returns when everything recorded before the call is written. */
MEMOIR_API void memoir_flush(void);

/* A snapshot: the state that all recorded before the call has led to (live blocks with operator, module and line,
 * segments, sums, what modules and optimizers hold) as a small capture of its own in `folder`, which is made; NULL: in
 * snapshots/0001, 0002, ... of the recording's. Other threads go on. Returns 0 when it is on file, with the folder in
 * `message`, or -1. */
MEMOIR_API int memoir_snapshot(const char* folder, char* message, size_t size);

/* What is recorded: nothing; allocations and deallocations; or these and operators. */
enum memoir_level { MEMOIR_OFF = 0, MEMOIR_MEMORY = 1, MEMOIR_ALL = 2 };

/* Switches the running recording off and on again. With `keep_memory` allocations and deallocations are still recorded,
 * so that live memory stays known; without, a hook costs next to nothing, and blocks from before the resume are not
 * followed any more. In effect when it returns. -1: nothing is recorded, or the ring had no room for the switch. */
MEMOIR_API int memoir_pause(int keep_memory);
MEMOIR_API int memoir_resume(void);
MEMOIR_API enum memoir_level memoir_level(void);

/* 1 between start and stop, also while the recording is paused. */
MEMOIR_API int memoir_recording(void);

/* Folder of the capture, "" before the first start; cut to `size`. */
MEMOIR_API int memoir_output(char* folder, size_t size);

/* The torch this library was built for: "2.11". */
MEMOIR_API const char* memoir_torch_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TRACKER_MEMOIR_H_ */
