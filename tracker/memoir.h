/* Memoir's C interface for libtorch programs and the Python package. memoir_python.h has the functions that only the
 * Python package calls.
 *
 * Under `memoir run` a libtorch program is recorded without calling these functions. libmemoir_tracker-torchX.Y.so
 * exports the functions; X.Y is the version of the program's torch. C programs find and load this library with
 * memoir/load.h, C++ programs with memoir.hpp. A process makes one recording at a time, and may start another recording
 * after a stop. A function with a `message` returns 0 on success. On failure it returns -1, and writes one line (cause
 * and fix) into `message`, cut to `size` bytes and always terminated. No function throws, or ends the program.
 *
 * Any thread. Call start and stop outside of torch's operators. In a forked child nothing is recorded until the child
 * starts its own recording. Until then memoir_stop and memoir_flush do nothing.
 */
#ifndef TRACKER_MEMOIR_H_
#define TRACKER_MEMOIR_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMOIR_API __attribute__((visibility("default")))

/* Why a recording ends. MEMOIR_STOPPED: the program continues. MEMOIR_EXITED: the program ends. */
enum memoir_end { MEMOIR_STOPPED = 1, MEMOIR_EXITED = 2 };

/* Starts a recording. `settings` is a list of texts "name=value" ("output=run1", "max_size=2GiB") that ends with NULL.
 * Each name is a variable of proto/memoir/options.def, without "MEMOIR_" and in lower case. The settings override the
 * MEMOIR_* variables of the environment. Further names are "program", "python_version" and "child". "child=1" means
 * that another process of the job started this process, and prints the messages about the whole job. */
MEMOIR_API int memoir_start(const char* const* settings, char* message, size_t size);

/* Ends the recording and closes the capture; returns when all events are written. -1: some events could not be
 * written. */
MEMOIR_API int memoir_stop(enum memoir_end reason, char* message, size_t size);

/* Stores the exception that ends the program ("RuntimeError: ..."). Call it before memoir_stop(MEMOIR_EXITED). `text`
 * may continue with the frames of the traceback, each as "\n\tLINE\tFILE\tFUNCTION", starting with the frame that
 * raised the exception. Text beyond 16 KiB is left out. */
MEMOIR_API void memoir_uncaught(const char* text);

/* libmemoir_interpose.so calls this before main, in a program with libtorch and without Python. Starts a recording with
 * the settings of the environment. The recording ends when the program exits. */
MEMOIR_API void memoir_program_starts(const char* program);

/* Functions for processes of a job that may never train. The Python package calls them; a libtorch program that forks
 * may call them too.
 * memoir_watch: the process stands by, with `settings` as for memoir_start. The process starts to record at its first
 * backward pass, optimizer step or memoir_step, or at memoir_begin. Until then it has no ring, thread or file.
 * memoir_forked: call it in a forked child, which then stands by if its parent recorded or stood by. Children of a
 * libtorch program under `memoir run` stand by without this call.
 * memoir_begin: starts to record if the process stands by. Returns 0 also if it does not stand by.
 * memoir_leave: ends the standby of a process that never trains. Afterwards the process records only if it calls
 * memoir_start. */
MEMOIR_API int memoir_watch(const char* const* settings, char* message, size_t size);
MEMOIR_API void memoir_forked(void);
MEMOIR_API int memoir_begin(char* message, size_t size);
MEMOIR_API void memoir_leave(void);

/* Sets the rank of this process in the job's default process group. Call it when the rank is known. */
MEMOIR_API void memoir_rank(uint32_t rank, uint32_t world_size);

/* Sets the place of this rank in each parallel dimension of the job ("pp", "dp", "tp"). `indices` has the place in each
 * dimension, counted from 0; `sizes` has the number of ranks in each dimension. Replaces earlier places. At most 16
 * dimensions and 64 bytes of a name are kept. Call it while a recording runs. The Python package reads the places from
 * DeviceMesh and from named process groups. */
MEMOIR_API void memoir_coordinates(const char* const* dimensions, const uint32_t* indices, const uint32_t* sizes,
                                   size_t count);

/* Call this after torch has made its CUDA allocators (torch.cuda.init()). From this call on CUDA memory is recorded,
 * including the blocks that are live at the call. Without this call, CUDA memory is recorded from the first CUDA block
 * that an operator allocates. */
MEMOIR_API void memoir_cuda_is_ready(void);

/* memoir_mark records a mark with the name `text`. memoir_step records the start of step `step`. Names are cut to 1,024
 * bytes. */
MEMOIR_API void memoir_mark(const char* text);
MEMOIR_API void memoir_step(uint64_t step);

/* Modules and optimizers. The Python package reports every torch.nn.Module and torch.optim.Optimizer; a libtorch
 * program calls these functions, or uses memoir/torch.hpp, which calls them for torch's C++ modules and optimizers. A
 * tensor is identified by the address of its TensorImpl (at::Tensor::unsafeGetTensorImpl), which the caller keeps alive
 * during the call. Definitions of modules are valid for one recording, which memoir_recordings identifies. These
 * functions record nothing while operators are not recorded (memoir_level).
 *
 * A module is a part of a model. `path` leads from the model's root to the module ("layers.3.mlp.fc1"; "" for the root
 * itself). `class_name` is the module's class. `root` names the model, usually by the class of the root. Define each
 * module once per recording, and call memoir_enter_module and memoir_exit_module around the module's forward.
 * memoir_define_module returns 0 if nothing is recorded or the table of names is full; the other functions ignore a
 * module 0. */
MEMOIR_API uint32_t memoir_define_module(const char* root, const char* path, const char* class_name);
MEMOIR_API void memoir_enter_module(uint32_t module);
MEMOIR_API void memoir_exit_module(uint32_t module);

/* memoir_module_holds reports the tensors that a module itself holds, with their names ("weight"; NULL: no name).
 * Call it after the module was defined, and again whenever the module's tensors or the result of memoir_parts have
 * changed. Gradients are read from the parameters. A parameter that several modules hold belongs to the module that was
 * reported first. */
struct memoir_held {
  const void* tensor;
  const char* name;
};
MEMOIR_API void memoir_module_holds(uint32_t module, const struct memoir_held* parameters, size_t parameter_count,
                                    const struct memoir_held* buffers, size_t buffer_count);
/* memoir_set_parameter sets the module to which the gradient of a parameter belongs, for parameters that
 * memoir_module_holds does not report. -1: the table is full. Call memoir_forget_parameter before the parameter is
 * destroyed, because another tensor may then get its address. */
MEMOIR_API int memoir_set_parameter(uint64_t tensor, uint32_t module);
MEMOIR_API void memoir_forget_parameter(uint64_t tensor, uint32_t module);

/* Returns 1 while this process records modules (the option `modules`). */
MEMOIR_API int memoir_recording_modules(void);

/* memoir_begin_range begins a user range, like torch's record_function; torch.profiler sees it too. End the range on
 * the thread where it began, before the ranges around it end. Ranges named "Optimizer.step#NAME" and
 * "Optimizer.zero_grad#NAME" belong to the phase `optimizer`. memoir_begin_range returns NULL if nothing records
 * ranges, or if there is no memory; memoir_end_range ignores NULL. */
MEMOIR_API void* memoir_begin_range(const char* name);
MEMOIR_API void memoir_end_range(void* range);

/* Reports the tensors of an optimizer. Call it at the end of each step of the optimizer, inside the step's range.
 * `optimizer` is a number that identifies the optimizer. `count` is at most 126. `state` has `state_counts[i]` tensors
 * for the i-th parameter, ordered by parameter. If `more` is not 0, this call continues the lists of the previous call.
 * If `count` is 0, the tensors are the same as at the previous step. Set the lowest bit of an address in `state` if the
 * tensor is inside a list or dict of the state; torch.profiler ignores such tensors. */
MEMOIR_API void memoir_optimizer_holds(uint64_t optimizer, const void* const* parameters, size_t count,
                                       const void* const* state, const uint32_t* state_counts, int more);

/* Returns the number of parts that have begun after the first part. The tensors of modules have to be reported again
 * in each part. */
MEMOIR_API uint64_t memoir_parts(void);
/* Returns a number that changes with each recording. Definitions of an earlier recording are invalid. */
MEMOIR_API uint64_t memoir_recordings(void);

/* Waits until everything that was recorded before the call is written. */
MEMOIR_API void memoir_flush(void);

/* Writes a snapshot into `folder`, and creates the folder if necessary. A snapshot is a small separate capture of the
 * state at the call (live blocks with operator, module and line, segments, sums, tensors of modules and optimizers). If
 * `folder` is NULL, the snapshot goes into snapshots/0001, 0002, ... in the recording's folder. Other threads continue.
 * Returns 0 when the snapshot is written, with the folder in `message`, or -1 with the error. */
MEMOIR_API int memoir_snapshot(const char* folder, char* message, size_t size);

/* The level of recording. MEMOIR_OFF: nothing. MEMOIR_MEMORY: allocations and deallocations. MEMOIR_ALL: also
 * operators. */
enum memoir_level { MEMOIR_OFF = 0, MEMOIR_MEMORY = 1, MEMOIR_ALL = 2 };

/* memoir_pause switches the running recording off, and memoir_resume switches it on again. With `keep_memory`,
 * allocations and deallocations are still recorded, so live memory stays known. Without `keep_memory`, hooks cost next
 * to nothing. memoir_resume then records the live CUDA blocks again; other blocks that were allocated earlier stay
 * unknown. The switch is in effect when the call returns. -1: no recording runs, or the ring had no room for the record
 * of the switch. */
MEMOIR_API int memoir_pause(int keep_memory);
MEMOIR_API int memoir_resume(void);
MEMOIR_API enum memoir_level memoir_level(void);

/* Returns 1 between start and stop, also while the recording is paused. */
MEMOIR_API int memoir_recording(void);

/* Writes the path of the capture's folder into `folder`, cut to `size`; "" before the first start. */
MEMOIR_API int memoir_output(char* folder, size_t size);

/* Returns the version of torch that this library was built for: "2.11". */
MEMOIR_API const char* memoir_torch_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TRACKER_MEMOIR_H_ */
