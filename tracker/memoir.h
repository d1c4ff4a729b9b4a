/* Memoir's C interface, for libtorch programs and the Python package (of which memoir_python.h has the rest).
 *
 * Under `memoir run` a libtorch program is recorded without calling any of it. The functions are exported by
 * libmemoir_tracker-torchX.Y.so, which must match the program's torch. One recording at a time; after a stop another
 * may start. Functions return 0, or -1 after writing one line (cause and fix) into `message`, which is cut to `size`
 * and always terminated. None throws; none ends the program.
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

/* What libmemoir_interpose.so calls before main, in a program that has libtorch and no Python: records as the
 * environment asks, until the program exits. */
MEMOIR_API void memoir_program_starts(const char* program);

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

/* What a program is made of. Python's package tells it of every torch.nn.Module and torch.optim.Optimizer; a libtorch
 * program calls these, or memoir_torch.h, which does so for modules and optimizers of torch's C++ interface. In all of
 * them a tensor is the address of its TensorImpl (at::Tensor::unsafeGetTensorImpl), which the caller keeps alive during
 * the call. What is defined holds for one recording; memoir_recordings says which. Nothing is recorded while operators
 * are not (memoir_level).
 *
 * A module is a part of a model, with a path from its root ("layers.3.mlp.fc1"; "" is the root itself), a class, and
 * the class of the root. Define it once per recording, and call enter and exit around its forward. Define returns 0,
 * which the others pass over, when nothing is recorded or no more fit. */
MEMOIR_API uint32_t memoir_define_module(const char* root, const char* path, const char* class_name);
MEMOIR_API void memoir_enter_module(uint32_t module);
MEMOIR_API void memoir_exit_module(uint32_t module);

/* What a module holds itself, with names ("weight"; NULL: none): call it once defined, when it changed, and when
 * memoir_parts did. Gradients are read from the parameters. A parameter that several modules hold belongs to the one
 * that said so first. */
struct memoir_held {
  const void* tensor;
  const char* name;
};
MEMOIR_API void memoir_module_holds(uint32_t module, const struct memoir_held* parameters, size_t parameter_count,
                                    const struct memoir_held* buffers, size_t buffer_count);
/* Which module a parameter's gradient belongs to, where memoir_module_holds does not say so. Forget a parameter before
 * it goes: its address may be another tensor's then. -1: no more fit. */
MEMOIR_API int memoir_set_parameter(uint64_t tensor, uint32_t module);
MEMOIR_API void memoir_forget_parameter(uint64_t tensor, uint32_t module);

/* 1 while this process records modules (the option `modules`). */
MEMOIR_API int memoir_recording_modules(void);

/* A user range, as torch's record_function makes one: torch.profiler sees it, too. It ends on the thread where it
 * began, before those around it. "Optimizer.step#NAME" and "Optimizer.zero_grad#NAME" are the phase `optimizer`.
 * NULL: nobody watches, or there is no memory; memoir_end_range passes it over. */
MEMOIR_API void* memoir_begin_range(const char* name);
MEMOIR_API void memoir_end_range(void* range);

/* What an optimizer holds, at the end of each of its steps, inside their range; `optimizer` is a number that tells it
 * from others. At most 126 parameters, and `state_counts[i]` tensors of the state of the i-th one, all in one row in
 * `state`. `more`: goes on with the call before. Without parameters: it holds what was said last. An address of the
 * state whose lowest bit is set is of a tensor inside a list or dict of the state, where torch.profiler does not
 * look. */
MEMOIR_API void memoir_optimizer_holds(uint64_t optimizer, const void* const* parameters, size_t count,
                                       const void* const* state, const uint32_t* state_counts, int more);

/* Parts of the capture that were begun after the first: what is held is said again in each. */
MEMOIR_API uint64_t memoir_parts(void);
/* Changes with each recording: what was defined before is forgotten. */
MEMOIR_API uint64_t memoir_recordings(void);

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
