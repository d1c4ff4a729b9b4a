// How a function of a CUDA library is defined here: over the generated weak default, with the header's own signature.
#ifndef INTERPOSE_SIMCUDA_API_EXPORTED_H_
#define INTERPOSE_SIMCUDA_API_EXPORTED_H_

#define SIMULATED extern "C" __attribute__((visibility("default")))

#endif  // INTERPOSE_SIMCUDA_API_EXPORTED_H_
