/* What other parts of Memoir may ask a process that runs on the simulated device; found by dlsym, so that nothing links
 * this library. C, any thread. */
#ifndef INTERPOSE_SIMCUDA_API_IDENTITY_H_
#define INTERPOSE_SIMCUDA_API_IDENTITY_H_

#ifdef __cplusplus
extern "C" {
#endif

/* "NVIDIA L4 (l4) with 8.00 GiB"; "" where the configuration was refused. Never null, never freed. */
const char* memoir_simulated_device(void);

/* Bytes that `device` has handed out now and at most, context included; 0 where there is no such device. */
unsigned long long memoir_simulated_used(int device);
unsigned long long memoir_simulated_peak(int device);

/* Kernels launched so far, and calls of a stand-in without behaviour by its name. */
unsigned long long memoir_simulated_launches(void);
unsigned long long memoir_simulated_calls(const char* function);

/* In a world of which this process is the only one: so many ranks split off with that colour; with -1: with whatever
 * colour comes next. To be said before ncclCommSplit, which is not told. What was said of a colour, or 0. */
void memoir_simulated_split(int color, int ranks);
int memoir_simulated_split_size(int color);

/* Bytes that `device` has in all, and those of them that other processes hold. */
unsigned long long memoir_simulated_total(int device);
unsigned long long memoir_simulated_others(int device);

/* Tells `observer` what NVIDIA's libraries take of a device for themselves, and have taken already: from there
 * on `id` holds `bytes` in the name of `library` ("libnccl.so.2"); 0: none. For ever; one observer. */
void memoir_simulated_observe(void (*observer)(int device, const char* library, unsigned long long id,
                                               unsigned long long bytes));

/* Bytes in memory that reads as anything but zero, as whole pages. */
unsigned long long memoir_simulated_kept(void);

#ifdef __cplusplus
}
#endif

#endif /* INTERPOSE_SIMCUDA_API_IDENTITY_H_ */
