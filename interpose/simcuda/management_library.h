// The stand-in for NVIDIA's management library, which programs look for by its name, libnvidia-ml.so.1.
#ifndef INTERPOSE_SIMCUDA_MANAGEMENT_LIBRARY_H_
#define INTERPOSE_SIMCUDA_MANAGEMENT_LIBRARY_H_

namespace memoir::simcuda {

// Loads it, for ever, from beside this library: whoever opens that name later gets it. Once, before the program asks
// what devices there are. Without the file nothing happens.
void LoadManagementLibrary();

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_MANAGEMENT_LIBRARY_H_
