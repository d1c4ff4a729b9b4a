/* Queries about a process on the simulated device. Other parts of Memoir find these functions by dlsym, and do
 * not link this library. C, any thread. */
#ifndef SIMCUDA_API_SIMULATION_QUERIES_H_
#define SIMCUDA_API_SIMULATION_QUERIES_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The simulated card, such as "NVIDIA L4 (l4) with 8.00 GiB". Empty if the configuration was refused. Never null, never
 * freed. */
const char* memoir_simulated_device(void);

/* Current and peak bytes of `device`, including the context; 0 if there is no such device. */
unsigned long long memoir_simulated_used(int device);
unsigned long long memoir_simulated_peak(int device);

/* launches: the number of kernels launched so far. calls: the number of calls of the stub `function` (counts.h). */
unsigned long long memoir_simulated_launches(void);
unsigned long long memoir_simulated_calls(const char* function);

/* Only for a process that represents all ranks of a job (MEMOIR_SIM_WORLD). split: sets how many ranks ncclCommSplit
 * puts into the group of `color`; -1 stands for any colour. Call it before ncclCommSplit, which does not receive the
 * number. split_size: returns the number that was set; 0 if no number was set. */
void memoir_simulated_split(int color, int ranks);
int memoir_simulated_split_size(int color);

/* total: all bytes of `device`. unowned: bytes that belong to no process, and are not free. others: bytes that other
 * processes use, plus unowned. */
unsigned long long memoir_simulated_total(int device);
unsigned long long memoir_simulated_others(int device);
unsigned long long memoir_simulated_unowned(int device);

/* The card number of `device` in CUDA_VISIBLE_DEVICES. `device` itself if the variable has no number for it. */
int memoir_simulated_card(int device);

/* Sets the observer of the memory that NVIDIA's libraries take for their own use. The observer is called immediately
 * for each existing charge, and later for each change: the charge `id` of `library` ("libnccl.so.2") is now `bytes`; 0
 * bytes end the charge. If `id` is 0, a charge of `bytes` was refused. One observer, until the process ends. */
void memoir_simulated_observe(void (*observer)(int device, const char* library, unsigned long long id,
                                               unsigned long long bytes));

/* Bytes of device memory whose contents are kept, in whole pages. All other bytes read as zero. */
unsigned long long memoir_simulated_kept(void);

#ifdef __cplusplus
}
#endif

#endif /* SIMCUDA_API_SIMULATION_QUERIES_H_ */
