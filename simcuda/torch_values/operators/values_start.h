/* The C interface of libmemoir_values-torchX.Y.so, which computes the values of small tensors for programs on
 * the simulated GPU (docs/simulated_device.md). The library must match the program's torch. */
#ifndef SIMCUDA_TORCH_VALUES_OPERATORS_VALUES_START_H_
#define SIMCUDA_TORCH_VALUES_OPERATORS_VALUES_START_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Call once, at the end of torch's import, before other threads run operators. Returns 0 if values are computed from
 * now on, 1 if this process has no simulated GPU, 2 if values cannot be computed; `message` then has the reason. */
int memoir_values_start(char* message, unsigned long long size);

#ifdef __cplusplus
}
#endif

#endif /* SIMCUDA_TORCH_VALUES_OPERATORS_VALUES_START_H_ */
