// Defines a function of a CUDA library with the signature in the library's header. It replaces the generated weak
// default.
#ifndef SIMCUDA_API_EXPORTED_H_
#define SIMCUDA_API_EXPORTED_H_

#define SIMULATED extern "C" __attribute__((visibility("default")))

#endif  // SIMCUDA_API_EXPORTED_H_
