/* The C interface of libmemoir_values-torchX.Y.so, which gives programs on the simulated GPU the values of small
 * tensors (docs/simulated_device.md). It must match the program's torch. */
#ifndef TRACKER_TORCH_SIMULATED_VALUES_H_
#define TRACKER_TORCH_SIMULATED_VALUES_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Once, at the end of torch's import, before other threads run operators. 0: values are there from now on. 1: this
 * process has no simulated GPU. 2: they cannot be had, and `message` says why. */
int memoir_values_start(char* message, unsigned long long size);

#ifdef __cplusplus
}
#endif

#endif /* TRACKER_TORCH_SIMULATED_VALUES_H_ */
