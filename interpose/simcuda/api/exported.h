// Defines a function of a CUDA library with the signature in the library's header. It replaces the generated weak
// default.
#ifndef INTERPOSE_SIMCUDA_API_EXPORTED_H_
#define INTERPOSE_SIMCUDA_API_EXPORTED_H_

#define SIMULATED extern "C" __attribute__((visibility("default")))

#endif  // INTERPOSE_SIMCUDA_API_EXPORTED_H_
