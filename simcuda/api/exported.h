// Begins the definition of a function of a CUDA library, with the signature in the library's header. The definition
// replaces the generated weak default (generate_stubs.py).
#ifndef SIMCUDA_API_EXPORTED_H_
#define SIMCUDA_API_EXPORTED_H_

#define SIMULATED extern "C" __attribute__((visibility("default")))

#endif  // SIMCUDA_API_EXPORTED_H_
