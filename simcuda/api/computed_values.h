/* The interface for the code that computes values of small tensors (simcuda/torch_values/). That code finds these
 * functions by dlsym, and does not link this library. C, any thread. Addresses point into device memory. Bytes are
 * known if they have the values that a GPU would have; all other bytes are unknown. */
#ifndef SIMCUDA_API_COMPUTED_VALUES_H_
#define SIMCUDA_API_COMPUTED_VALUES_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if all the bytes are known. */
int memoir_simulated_is_known(const void* address, unsigned long long bytes);
/* Makes the bytes known; the caller then writes the values. 0 if there is no room for more pages; the bytes stay
 * unknown, and the caller must not write them. */
int memoir_simulated_know(void* address, unsigned long long bytes);
/* Makes the bytes unknown; they read as zero. For results that are not computed. */
void memoir_simulated_forget(void* address, unsigned long long bytes);
/* Reports a block that the program's own allocator (such as torch's) has returned. Makes its bytes unknown. */
void memoir_simulated_deal(void* address, unsigned long long bytes);

/* Begin and end an operator on the calling thread. The caller reports the bytes that the operator writes, so the
 * operator's kernels make no bytes unknown. Operators nest: pass the result of begin to end. end returns 1 if this
 * operator itself launched a kernel, or called cuBLAS or a similar library. Launches and calls of inner operators do
 * not count. After the first begin, a launch outside operators makes all blocks that the kernel can write unknown. */
unsigned long long memoir_simulated_begin_operator(void);
int memoir_simulated_end_operator(unsigned long long begun);

/* Sets the answers of the calling thread: up to 4 values that replace unknown bytes in the thread's copies of 1, 2, 4
 * or 8 bytes to the host. Each copy reads the next value. Once all values are read, further copies read the last value.
 * If count is 0, copies read zeros. `before` (may be null) receives the previous answers. */
struct memoir_simulated_answers {
  unsigned long long values[4];
  unsigned count, next;
};
void memoir_simulated_answer(const struct memoir_simulated_answers* answers, struct memoir_simulated_answers* before);

/* Counts one shape that the operator `name` determined from unknown values. At the end of the process the counts are
 * printed, and appended to the file that MEMOIR_SIM_COUNTS names. */
void memoir_simulated_count_unknown(const char* name);
/* 1 if shapes that depend on unknown values are the largest possible (MEMOIR_SIM_UNKNOWN=most); 0 if they are the
 * smallest. */
int memoir_simulated_takes_most(void);

/* 1 if any stream is being captured, so that launches do not run now. */
int memoir_simulated_is_capturing(void);

#ifdef __cplusplus
}
#endif

#endif /* SIMCUDA_API_COMPUTED_VALUES_H_ */
