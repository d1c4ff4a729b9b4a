/* What computes the values of small tensors tells the device, and asks it (tracker/torch/simulated/). Found by dlsym,
 * so that nothing links this library. C, any thread. Addresses are of device memory. */
#ifndef INTERPOSE_SIMCUDA_API_VALUES_H_
#define INTERPOSE_SIMCUDA_API_VALUES_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Whether all the bytes hold what a GPU would have there. */
int memoir_simulated_is_known(const void* address, unsigned long long bytes);
/* The bytes are about to be written, and known from then on. 0: no room for them, they must not be written. */
int memoir_simulated_know(void* address, unsigned long long bytes);
/* The bytes are unknown, and read as zero: of a kernel's result that is not computed. */
void memoir_simulated_forget(void* address, unsigned long long bytes);
/* A block that an allocator deals out of memory that it got from CUDA. Its bytes are unknown. */
void memoir_simulated_deal(void* address, unsigned long long bytes);

/* The calling thread is in an operator that says itself what it writes: of its kernels nothing is void. They nest: the
 * end gets what the beginning returned. 1: something was launched, or asked of cuBLAS and its like, in this operator
 * and in none within it. What kernels outside of operators are handed is unknown from the first operator on. */
unsigned long long memoir_simulated_begin_operator(void);
int memoir_simulated_end_operator(unsigned long long begun);

/* What the calling thread reads where a copy of 1, 2, 4 or 8 bytes to the host finds them unknown: the values in turn,
 * the last one for all further copies. At most 4; count 0: zeros, as ever. `before` (may be null) gets those that were
 * set, in the same form. */
struct memoir_simulated_answers {
  unsigned long long values[4];
  unsigned count, next;
};
void memoir_simulated_answer(const struct memoir_simulated_answers* answers, struct memoir_simulated_answers* before);

/* A shape depended on values that are unknown, in the operator of that name . Counted, written to
 * MEMOIR_SIM_COUNTS, and said at the end of the process. */
void memoir_simulated_count_unknown(const char* name);
/* 1: such a shape is the largest possible (MEMOIR_SIM_UNKNOWN=most); 0: the smallest. */
int memoir_simulated_takes_most(void);

/* Whether any stream is being captured: what is launched now does not run now. */
int memoir_simulated_is_capturing(void);

#ifdef __cplusplus
}
#endif

#endif /* INTERPOSE_SIMCUDA_API_VALUES_H_ */
